"""Downloads, phones and explanations in a real browser."""

import csv
import time

import pytest
from PIL import Image
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait


@pytest.fixture
def page(opened, report):
    with opened(report) as driver:
        yield driver


@pytest.fixture
def phone(page):
    size = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    yield page
    page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.fixture
def arriving(page, tmp_path):
    """Return how to press a button and read the file that it downloads."""
    allow = {"behavior": "allow", "downloadPath": str(tmp_path)}
    page.execute_cdp_cmd("Browser.setDownloadBehavior", allow)

    def press(label):
        before = set(tmp_path.iterdir())
        button = page.find_element(By.CSS_SELECTOR, f"[aria-label='{label}']")
        page.execute_script("arguments[0].scrollIntoView(); arguments[0].click()", button)
        for _ in range(300):
            new = set(tmp_path.iterdir()) - before
            if new and not any(path.suffix == ".crdownload" for path in new):
                return new.pop()
            time.sleep(0.1)
        raise AssertionError(f"{label}: nothing arrived")

    return press


def test_the_table_of_edges_arrives(page, arriving, fit):
    path = arriving("Download the table edge-table as CSV")
    assert path.name == "a-b-test-b-edge-table.csv"
    rows = list(csv.DictReader(path.read_text("utf-8-sig").splitlines()))
    assert len(rows) == len(
        page.find_elements(By.CSS_SELECTOR, "#edge-table tr:not([hidden]) td:first-of-type")
    )
    exact = fit.posterior_.edge_probabilities("mean")
    for row in rows:
        expected = exact.loc[row["cause"], row["effect"]]
        assert float(row["moves the mean"]) == pytest.approx(expected, rel=1e-4)


def test_every_table_and_picture_has_a_download(page):
    assert page.execute_script(
        "return [...document.querySelectorAll('main table')].every((table) => "
        "(table.closest('.scroll') ?? table).nextElementSibling?.matches('.downloads'))"
    )
    assert page.execute_script(
        "return [...document.querySelectorAll('figure .plot')].every((plot) => "
        "plot.closest('figure').querySelectorAll('.downloads button').length === 2)"
    )


def test_pictures_arrive(page, arriving):
    for label, name in (
        ("Download the graphs as SVG", "graph.svg"),
        ("Download sd-map as SVG", "sd-map.svg"),
    ):
        path = arriving(label)
        assert path.name.endswith(name)
        text = path.read_text("utf-8")
        assert text.startswith("<svg")
        assert "dose" in text
    for label in ("Download the graphs as PNG", "Download mean-map as PNG"):
        with Image.open(arriving(label)) as picture:
            assert picture.width > 300
            assert len(picture.convert("RGB").getcolors(1 << 24)) > 5


def test_a_phone_needs_no_sideways_scrolling(phone, mixed_report, opened):
    wide = (
        "return [document.documentElement.scrollWidth, ...[...document.querySelectorAll("
        "'main table, main figure, main p, main form')].filter((e) => e.offsetParent)"
        ".map((e) => Math.round(e.getBoundingClientRect().right))]"
    )
    with opened(mixed_report) as driver:
        # Sections that are out of sight are not laid out.
        driver.execute_script(
            "for (const s of document.querySelectorAll('section')) s.style.contentVisibility = "
            "'visible'"
        )
        assert max(driver.execute_script(wide)) <= 390
        label = (
            "return getComputedStyle(document.querySelector('#world-table tbody td'), '::before')"
            ".content"
        )
        assert driver.execute_script(label) == '"kind"'


def test_numbers_are_explained_to_pointer_keyboard_and_touch(page):
    what = page.find_element(By.CSS_SELECTOR, "#edge-table .what")
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", what)
    tip = page.find_element(By.ID, "tooltip")
    assert not tip.is_displayed()
    page.execute_script("arguments[0].focus()", what)
    assert tip.text.startswith("Probability of an edge in the mean graph")
    what.send_keys(Keys.ESCAPE)
    assert not tip.is_displayed()
    order = page.find_element(By.CSS_SELECTOR, "#edge-table tbody").text
    what.click()
    WebDriverWait(page, 30).until(lambda _: tip.is_displayed())
    assert page.find_element(By.CSS_SELECTOR, "#edge-table tbody").text == order  # no sorting
    page.execute_script("arguments[0].blur()", what)
    assert "mean graph" in what.get_attribute("aria-label")
