"""World.view: the page and what it asks for, over HTTP."""

from __future__ import annotations

import json
import struct
import time
import urllib.error
import urllib.request

import pytest
import tippe


def get(url: str, data: bytes | None = None, host: str | None = None) -> tuple[int, bytes]:
    request = urllib.request.Request(url, data=data, headers={} if host is None else {"Host": host})
    try:
        with urllib.request.urlopen(request, timeout=20) as reply:
            return reply.status, reply.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


@pytest.fixture
def view(ball_world: tippe.World):
    try:
        made = ball_world.view(pace=None, browser=False)
    except tippe.UnsupportedError as error:  # built without node
        pytest.skip(str(error))
    with made:
        yield made


def test_steps_are_seen_as_they_come(ball_world: tippe.World, view: tippe.View):
    status, page = get(view.url)
    assert status == 200 and b"<html" in page.lower()
    head = json.loads(get(view.url + "head")[1])
    assert head["mode"] == "live"
    assert json.loads(get(view.url + "live")[1])["frames"] == 1
    ball_world["ball"].velocity = (1, 0, 0)
    for _ in range(5):
        ball_world.step(0.01)
    ball_world.run(until=0.1, step=0.01)
    live = json.loads(get(view.url + "live?after=1&version=0")[1])
    assert live["frames"] == 11 and live["running"] and live["stepper"] == "anitescu"
    assert live["step"] == pytest.approx(0.01)
    state = get(view.url + "body?body=0&first=10&count=1")[1]
    assert struct.unpack("<13d", state[-104:])[0] == pytest.approx(ball_world["ball"].position[0])
    assert get(view.url + "frames?first=0&count=11")[0] == 200


def test_it_takes_no_orders_and_knows_its_secret(view: tippe.View):
    assert get(view.url + "command", b'{"begin": true}')[0] == 204
    status, words = get(view.url + "command", b'{"running": false}')
    assert status == 409 and b"program steps this world" in words
    root = view.url.rsplit("/", 2)[0]
    assert get(root + "/")[0] == 404 and get(root + "/other/head")[0] == 404
    assert get(view.url + "head", host="elsewhere.org")[0] == 404
    assert get(view.url + "nothing")[0] == 404


def test_bodies_that_come_begin_it_anew(ball_world: tippe.World, view: tippe.View):
    ball_world.step(0.01)
    epoch = json.loads(get(view.url + "live")[1])["epoch"]
    ball_world.add_body("other", position=(1, 0, 1)).add_sphere(0.1, density=1000)
    ball_world.step(0.01)
    live = json.loads(get(view.url + "live")[1])
    assert live["epoch"] > epoch and "other bodies" in live["message"]
    assert len(json.loads(get(view.url + "head")[1])["bodies"]) == 3


def test_one_view_at_a_time_and_closing(ball_world: tippe.World, view: tippe.View):
    with pytest.raises(RuntimeError, match="already"):
        ball_world.view(browser=False)
    for arguments in ({"pace": 0}, {"port": -1}, {"megabytes": 0}):
        with pytest.raises(ValueError, match=next(iter(arguments))):
            ball_world.view(browser=False, **arguments)  # type: ignore[arg-type]
    view.close()
    view.close()
    ball_world.step(0.01)
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(view.url, timeout=5)
    with ball_world.view(pace=2.0, browser=False):
        began = time.monotonic()
        ball_world.run(until=ball_world.time + 0.3, step=0.01)
        assert time.monotonic() - began > 0.1  # no faster than twice the clock
