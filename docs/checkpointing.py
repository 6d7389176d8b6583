#!/usr/bin/env python3
"""Draws checkpointing.svg: what the checkpoint policies of a loop of 2000 trips keep, and how often they evaluate the
body. Usage: checkpointing.py [FILE.svg]

The counts come from running the schedules on trip numbers in place of states. They are those that RunStats gives.
With --table: the same as lines of text, and for longer loops.
"""
import math
import pathlib
import sys

TRIPS = 2000
NEVER = 2**31 - 1


def split(trips, room):
    """The trip whose state revolve keeps next, for `trips` trips and `room` free slots. Algorithm 799."""
    t, reach, before = 0, 1, 1
    while reach < trips:
        t += 1
        reach, before = reach * (room + t) // t, reach
    smaller = before * room // max(room + t - 1, 1)
    return max(1, min(before, trips - smaller, trips - 1))


def next_to_keep(trip, state, top, slots):
    if top == slots or trip - state <= 2:
        return NEVER
    return state + split(trip - state, slots - top + 1)


def online_forward(trips, slots):
    """The trips whose states are in the slots after the forward run: Stumm and Walther, then Wang and Moin."""
    first, opened, until, save = 0, slots, slots, True
    level, displaced = [NEVER] + [0] * (slots - 1), [False] * slots
    kept = [NEVER] * slots
    for k in range(trips):
        if k < slots * (slots + 3) // 2:
            write, place = save, first
            if save:
                first = 1 if first + 1 > opened else first + 1
            if k == until:
                until += opened
                opened -= 1
                first, save = opened, opened > 0
            elif k + 1 == until:
                save = False
        elif slots == 1:
            write = False
        else:
            write, any_displaced = True, any(displaced)
            place = max(range(slots), key=lambda i: kept[i] if displaced[i] or not any_displaced else 0)
            if any_displaced:
                level[place], displaced[place] = 0, False
            else:
                displaced = [d or l < level[place] for d, l in zip(displaced, level)]
                level[place] += 1
        if write:
            kept[place] = k
    return sorted(k for k in kept if k != NEVER)


def revolve_forward(trips, slots):
    """The same for a number of trips that is known before."""
    kept, following = [], 0
    for k in range(trips):
        if k == following:
            kept.append(k)
            following = next_to_keep(trips, k, len(kept), slots)
    return kept


def advances(kept, trips, slots):
    """Body evaluations of the backward pass that lead from a kept state to the one that is wanted."""
    kept, count = list(kept), 0
    for trip in range(trips, 0, -1):
        state = kept[-1]
        if state + 1 == trip:
            kept.pop()
        following = next_to_keep(trip, state, len(kept), slots)
        while state + 1 < trip:
            state += 1
            count += 1
            if state == following:
                kept.append(state)
                following = next_to_keep(trip, state, len(kept), slots)
    return count


def evaluations(forward, trips, slots):
    """Of the body, a trip: forward, again in the backward pass, and with its derivative."""
    return (2 * trips + advances(forward(trips, slots), trips, slots)) / trips


def periodic(trips, period):
    """States kept and evaluations a trip: every period-th state, and the residuals of one period."""
    whole, rest = divmod(trips, period)
    return whole + period + rest, (trips + whole * period) / trips


def points():
    slots = [2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128, 256, 512, 1024]
    rows = [("online", n, n, evaluations(online_forward, TRIPS, n)) for n in slots]
    rows += [("revolve", n, n, evaluations(revolve_forward, TRIPS, n)) for n in slots]
    rows += [("periodic", p, *periodic(TRIPS, p)) for p in [10, 20, 45, 100, 200]]
    rows.append(("tape", TRIPS, TRIPS, 1.0))
    return rows


COLOURS = {"online": "#0b6fb8", "revolve": "#c2570c", "periodic": "#3f7d20", "tape": "#6b3fa0"}


def draw(rows):
    left, right, top, bottom = 70, 680, 30, 350

    def x(states):
        return left + (right - left) * math.log(states / 1.6) / math.log(2600 / 1.6)

    def y(per_trip):
        return bottom - (bottom - top) * math.log(per_trip / 0.85) / math.log(60 / 0.85)

    def text(at, down, words, anchor="middle", colour="#333"):
        return f'<text x="{at:.1f}" y="{down:.1f}" text-anchor="{anchor}" fill="{colour}">{words}</text>'

    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 410" font-family="sans-serif" font-size="13">',
           '<rect width="720" height="410" fill="white"/>']
    for value in [1, 2, 3, 5, 10, 20, 50]:
        out.append(f'<path d="M{left},{y(value):.1f}H{right}" stroke="#ddd"/>')
        out.append(text(left - 8, y(value) + 4, value, "end"))
    for value in [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2000]:
        out.append(f'<path d="M{x(value):.1f},{top}V{bottom}" stroke="#eee"/>')
        out.append(text(x(value), bottom + 18, value))
    for policy, colour in COLOURS.items():
        mine = [(x(states), y(per_trip)) for name, _, states, per_trip in rows if name == policy]
        if policy in ("online", "revolve"):
            line = "L".join(f"{a:.1f},{b:.1f}" for a, b in mine)
            out.append(f'<path d="M{line}" fill="none" stroke="{colour}"/>')
        out += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3.5" fill="{colour}"/>' for a, b in mine]
    chosen = next(row for row in rows if row[:2] == ("online", 64))
    out.append(f'<circle cx="{x(64):.1f}" cy="{y(chosen[3]):.1f}" r="8" fill="none" stroke="{COLOURS["online"]}"/>')
    out.append(text(x(70), y(chosen[3]) - 12, "automatic, unknown length: online(64)", "start", COLOURS["online"]))
    tape_x, tape_y = x(TRIPS), y(1)
    out.append(f'<circle cx="{tape_x:.1f}" cy="{tape_y:.1f}" r="8" fill="none" stroke="{COLOURS["tape"]}"/>')
    out.append(text(tape_x - 14, tape_y - 5, "automatic, known length: tape", "end", COLOURS["tape"]))
    out.append(text(x(4.3), y(11.5), "online(n)", "start", COLOURS["online"]))
    out.append(text(x(11), y(3.9), "revolve(n)", "end", COLOURS["revolve"]))
    out.append(text(x(235), y(1.93), "periodic(p)", "start", COLOURS["periodic"]))
    out.append(text((left + right) / 2, bottom + 42, "states kept, of a loop of 2000 trips"))
    middle = (top + bottom) / 2
    out.append(f'<g transform="rotate(-90 22 {middle})">{text(22, middle, "body evaluations a trip")}</g>')
    out.append("</svg>\n")
    return "\n".join(out)


def main():
    rows = points()
    if "--table" in sys.argv:
        for policy, number, states, per_trip in rows:
            print(f"{policy}({number}): {states} states, {per_trip:.3f} evaluations a trip")
        for trips in (2144, 10_000, 100_000):
            for slots in (4, 16, 64):
                known, unknown = (evaluations(f, trips, slots) for f in (revolve_forward, online_forward))
                print(f"{trips} trips, {slots} slots: revolve {known:.2f}, online {unknown:.2f}")
        return
    path = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).with_suffix(".svg")
    path.write_text(draw(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
