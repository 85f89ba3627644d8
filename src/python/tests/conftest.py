"""Reports of test results in TAP: pytest -p no:terminal --capture=no --tap."""


def pytest_addoption(parser):
    parser.addoption("--tap", action="store_true", help="print the results in TAP")


def pytest_configure(config):
    if config.getoption("tap"):
        config.pluginmanager.register(Tap())


class Tap:
    def __init__(self):
        self.count = 0

    def result(self, report):
        self.count += 1
        print("not ok" if report.failed else "ok", self.count, "-", report.nodeid, flush=True)
        if report.failed:
            print("".join(f"# {line}\n" for line in report.longreprtext.splitlines()), end="")

    def pytest_collectreport(self, report):
        if report.failed:
            self.result(report)

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.failed:
            self.result(report)

    def pytest_sessionfinish(self):
        print(f"1..{self.count}", flush=True)
