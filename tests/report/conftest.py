"""One small fit with a hostile column name, its report, and a real browser that opens it."""

import json
import os
import shutil
import warnings
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

import momentdag as md
from momentdag.engines.protocol import FitResult
from momentdag.posterior import Provenance

HOSTILE = 'yield </script><img src=x onerror="alert(1)"> &'


@pytest.fixture(scope="session")
def data():
    rng = np.random.default_rng(0)
    dose, stress = rng.uniform(-2, 2, (2, 200))
    noise = np.exp(0.7 * stress) * rng.normal(size=200)
    return pd.DataFrame({"dose": dose, "stress": stress, HOSTILE: 20 + 3 * np.sin(dose) + noise})


@pytest.fixture(scope="session")
def fit(data):
    return md.MomentDAG(n_draws=200, random_state=0).fit(data)


@pytest.fixture(scope="session")
def linear(data):
    """Return a fit without mechanisms."""
    with warnings.catch_warnings():
        # Few draws mix poorly, and say so.
        warnings.simplefilter("ignore", ConvergenceWarning)
        options = {"family": "linear"}
        return md.MomentDAG(n_draws=50, random_state=0, engine_options=options).fit(data)


@pytest.fixture(scope="session")
def report(fit, data, tmp_path_factory):
    knowledge = md.Knowledge(
        order=[("dose", HOSTILE)],
        forbidden=[("stress", HOSTILE, "mean"), ("stress", HOSTILE, "variance")],
        edge_priors={("dose", HOSTILE): 0.3},
    )
    path = tmp_path_factory.mktemp("report") / "report.html"
    return md.report.write_report(fit, data, path, title="A <b>test</b>", knowledge=knowledge)


@pytest.fixture(scope="session")
def mixed_report(mixed_fit, mixed_data, tmp_path_factory):
    """The report of a fit with columns of every kind, with an account of what was done to them."""
    account = [
        {"column": "part", "kind": "identifier", "action": "leave out", "why": "It runs from 1."},
        *(
            {"column": name, "kind": kind, "action": "keep", "why": f"Looks {kind}."}
            for name, kind in zip(mixed_data.names, mixed_data.kinds, strict=True)
        ),
        {"column": "", "kind": "", "action": "note", "why": "No cell is missing."},
    ]
    path = tmp_path_factory.mktemp("mixed") / "report.html"
    return md.report.write_report(mixed_fit, mixed_data, path, title="Parts", account=account)


@pytest.fixture(scope="session")
def browser():
    """Start Debian's chromium, with its console and network logs kept."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    found = [shutil.which("chromium"), shutil.which("chromedriver")]
    if None in found:
        reason = "chromium and chromedriver are not installed (Debian: chromium chromium-driver)"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    options = webdriver.ChromeOptions()
    options.binary_location = found[0]
    for argument in (
        "--headless=new",
        "--no-sandbox",  # tests may run as root in a container, where the sandbox cannot start
        "--disable-dev-shm-usage",
        "--force-prefers-reduced-motion",  # a click must not chase a page that still scrolls
        "--window-size=1360,1000",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    with warnings.catch_warnings():
        # Selenium's own sockets; nothing of ours.
        warnings.simplefilter("ignore", ResourceWarning)
        driver = webdriver.Chrome(options=options, service=Service(found[1]))
        driver.set_page_load_timeout(60)
        yield driver
        driver.quit()


@pytest.fixture(scope="session")
def wide_report(tmp_path_factory):
    """The report of drawn graph pairs over 50 variables, without mechanisms."""
    rng = np.random.default_rng(0)
    chance = rng.choice([0.0, 0.05, 0.3, 0.95], size=(2, 50, 50), p=[0.7, 0.25, 0.03, 0.02])
    return report_by_hand(rng, chance, tmp_path_factory.mktemp("wide"))


@pytest.fixture(scope="session")
def dense_report(tmp_path_factory):
    """The report of 31 variables with 240 edges of probability one half or more."""
    rng = np.random.default_rng(1)
    chance = np.zeros((2, 31, 31))
    places = np.argwhere(np.triu(np.ones((31, 31)), 1))
    for k, n in enumerate((160, 80)):
        chosen = places[rng.choice(len(places), n, replace=False)]
        chance[k, chosen[:, 0], chosen[:, 1]] = rng.uniform(0.65, 1.0, n)
    return report_by_hand(rng, chance, tmp_path_factory.mktemp("dense"))


def report_by_hand(rng, chance, folder):
    """Write the report of drawn graph pairs whose edges have these chances (2, d, d)."""
    d, n_draws = chance.shape[1], 200
    mean, variance = rng.random((n_draws, 2, d, d)).swapaxes(0, 1) < np.triu(chance)[:, None]
    for graphs in (mean, variance):
        graphs[:, range(d), range(d)] = False
    data = pd.DataFrame(rng.normal(size=(500, d)), columns=[f"x{k}" for k in range(d)])
    posterior = md.Posterior(data.columns, mean, variance, Provenance("by hand"))
    estimator = md.MomentDAG()
    observed = md.Dataset.from_table(data).observe()
    estimator.adopt(FitResult(posterior, None, posterior.draw(0), observed))
    return md.report.write_report(estimator, data, folder / "report.html")


def requests(driver):
    messages = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    sent = [message for message in messages if message["method"] == "Network.requestWillBeSent"]
    return [message["params"]["request"]["url"] for message in sent]


@pytest.fixture(scope="session")
def opened(browser):
    """Return how to show a report, loading it if it is not open; it must stay quiet."""
    from selenium.webdriver.support.ui import WebDriverWait

    @contextmanager
    def show(report):
        if browser.current_url != report.as_uri():
            browser.get_log("browser"), browser.get_log("performance")  # of the page before
            browser.get(report.as_uri())
            ready = "return document.documentElement.dataset.ready === 'true'"
            # Drawing takes a second, on a busy machine some.
            WebDriverWait(browser, 30).until(lambda driver: driver.execute_script(ready))
        yield browser
        assert browser.get_log("browser") == []
        own = ("file:", "data:", "blob:")
        asked = [url for url in requests(browser) if not url.startswith(own)]
        assert asked == []

    return show
