"""The leaderboard's page in a browser: for a screen reader, in the dark, on a phone, asking nobody."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe

from cellgrader.leaderboard import Leaderboard, LeaderboardRow, as_page

HOSTILE = "<script>document.title = 'gone'</script> & </td>"
ROWS = {
    "translator": [
        LeaderboardRow(
            "en-es-fixed", {"score": 92.0, "low": 87.3, "high": 95.0}, 3_469_025, 2.3, ours=True
        ),
        LeaderboardRow(HOSTILE, {"score": 74.2, "low": 69.0, "high": 80.1}, 1_204_224, 14, 23.5),
        LeaderboardRow("quiet heron 42", {"score": 0.0, "low": 0.0, "high": 0.0}, 12, 100),
    ],
    "captioner": [
        LeaderboardRow(
            "shy mole 11", {"score": 5.2, "low": 4.7, "high": 5.9, "pointing": 0.71}, 364_183, 4, 9
        )
    ],
}


@pytest.mark.browser
def test_everybody_can_read_it_and_it_asks_nobody(chrome, tmp_path):
    (tmp_path / "page.html").write_text(
        as_page(Leaderboard("ps9", "public", ROWS, ())), encoding="utf-8"
    )
    asked: list[str] = []
    for theme in ("light", "dark"):
        page = chrome.new_page(viewport={"width": 390, "height": 844}, color_scheme=theme)
        page.on("request", lambda request: asked.append(request.url))
        page.goto((tmp_path / "page.html").as_uri())
        assert page.title() == "Leaderboard of ps9"
        for width in (390, 1366):
            page.set_viewport_size({"width": width, "height": 844})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
            assert [rule["id"] for rule in found] == [], (theme, width)
        assert page.locator("tbody tr").count() == 4
        assert HOSTILE in page.locator("tbody").first.inner_text()
        page.close()
    assert {url.partition(":")[0] for url in asked} == {"file"} and len(asked) == 2
