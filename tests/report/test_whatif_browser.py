"""The section “What if?” in a real browser, against `effects.intervene`."""

import shlex

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

import momentdag as md
from momentdag.cli.inputs import parse_limits, parse_settings


@pytest.fixture
def page(opened, report):
    with opened(report) as driver:
        driver.execute_script("document.getElementById('whatif').scrollIntoView()")
        yield driver
        driver.find_element(By.ID, "whatif-reset").click()


def slide(driver, cause, stop):
    slider = driver.find_element(By.CSS_SELECTOR, f"input[data-cause='{cause}']")
    driver.execute_script(
        "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input'))",
        slider,
        str(stop),
    )


def numbers(driver, column="then"):
    cells = driver.find_elements(
        By.CSS_SELECTOR, f"#whatif-table tbody td:nth-child({2 + (column == 'then')})"
    )
    return [float(cell.get_attribute("data-value")) for cell in cells]


def asked(driver):
    """Return settings and limits as the command line would read them from the command."""
    words = shlex.split(driver.find_element(By.ID, "whatif-command").text)
    assert words[:3] == ["momentdag", "effects", "RUN"]
    given = {flag: [] for flag in ("--target", "--do", "--limits")}
    for flag, value in zip(words[3::2], words[4::2], strict=True):
        given[flag].append(value)
    return given["--target"], parse_settings(given["--do"]), parse_limits(given["--limits"])


def check(driver, fit, data):
    (target,), settings, limits = asked(driver)
    exact = md.effects.intervene(fit, settings, [target], limits=limits).to_frame().iloc[0]
    mean, sd, risk = numbers(driver)
    assert abs(mean - exact["mean"]) < 0.01 * data[target].std()
    assert sd == pytest.approx(exact["sd"], rel=0.01)
    assert abs(risk - exact["outside"]) < 0.01
    return settings


@pytest.mark.parametrize("stops", [{"stress": 30}, {"stress": 171}, {"dose": 77, "stress": 155}])
def test_sliders_say_what_effects_says(page, fit, data, stops):
    today = numbers(page, "today")
    for cause, stop in stops.items():
        slide(page, cause, stop)
    assert check(page, fit, data).keys() == stops.keys()
    assert numbers(page)[1] != pytest.approx(today[1], rel=0.05)
    shown = page.find_element(By.CSS_SELECTOR, "#whatif-table tr[data-what=sd] td:last-child b")
    assert float(shown.text) == pytest.approx(numbers(page)[1], rel=1e-3)


def test_the_user_types_limits(page, fit, data):
    slide(page, "stress", 150)
    before = numbers(page)[2]
    lower = page.find_element(By.ID, "lower-limit")
    first = lower.get_attribute("value")
    assert float(first) == pytest.approx(data.iloc[:, 2].quantile(0.05), rel=1e-3)
    for typed in ("18.5", ""):
        page.execute_script(
            "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input'))",
            lower,
            typed,
        )
        check(page, fit, data)
        assert numbers(page)[2] != before
    page.execute_script(
        "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input'))",
        lower,
        first,
    )


def test_maps_of_two_causes_stand_side_by_side(page, fit, data):
    drawn = "return document.querySelectorAll('#maps .main-svg:first-child').length === 2"
    WebDriverWait(page, 30).until(lambda driver: driver.execute_script(drawn))
    assert Select(page.find_element(By.ID, "pair")).first_selected_option.text == "dose and stress"
    places = [element.rect for element in page.find_elements(By.CSS_SELECTOR, "#maps .plot")]
    assert places[0]["y"] == places[1]["y"]
    # A click sets both causes, to what the maps show there.
    page.execute_script(
        "const map = document.getElementById('sd-map'); map.emit('plotly_click', "
        "{points: [{x: map.data[0].x[5], y: map.data[0].y[20]}]})"
    )
    assert check(page, fit, data).keys() == {"dose", "stress"}
    z = page.execute_script("return document.getElementById('sd-map').data[0].z[20][5]")
    assert numbers(page)[1] == pytest.approx(z, rel=0.02)  # sliders have steps
    symbols = "return document.getElementById('sd-map').data.slice(1).map((t) => t.marker.symbol)"
    page.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
    marks = page.execute_script(symbols)
    assert marks[-1] == "circle-open"
    assert ("star" in marks) == page.find_element(By.ID, "map-note").text.startswith("The star")


def test_the_recommended_setting_can_be_shown(page, fit, data):
    page.find_element(By.ID, "show-robust").click()
    check(page, fit, data)
    assert numbers(page)[1] < 0.9 * numbers(page, "today")[1]
    assert abs(numbers(page)[0] - numbers(page, "today")[0]) < 0.12 * data.iloc[:, 2].std()


def test_the_command_is_copied(page):
    slide(page, "stress", 20)
    page.find_element(By.ID, "copy-command").click()
    done = (By.ID, "copied")
    WebDriverWait(page, 30).until(lambda driver: driver.find_element(*done).text == "Copied")
    page.execute_script("document.body.append(document.createElement('textarea'))")
    field = page.find_element(By.CSS_SELECTOR, "body > textarea")
    field.send_keys(Keys.CONTROL, "v")
    pasted = field.get_property("value")
    page.execute_script(
        "arguments[0].remove(); document.getElementById('whatif').scrollIntoView()", field
    )
    assert pasted == page.find_element(By.ID, "whatif-command").text
    assert "--do stress=" in pasted


def test_the_page_says_how_it_was_computed(page):
    said = page.find_element(By.ID, "whatif-accuracy").text
    assert "200 posterior draws" in said
    assert "was off by at most" in said
    assert "reproduces" in page.find_element(By.ID, "whatif-trust").text
