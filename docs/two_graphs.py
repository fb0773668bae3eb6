"""Draw two graphs over the same variables, the picture of the first page."""

from html import escape

_POSITIONS = {
    "dose": (70, 40),
    "age": (270, 40),
    "stress": (470, 40),
    "uptake": (110, 190),
    "response": (380, 210),
}
_MEAN = [("dose", "uptake"), ("age", "uptake"), ("uptake", "response"), ("dose", "response")]
_VARIANCE = [("stress", "response"), ("age", "response"), ("stress", "uptake")]
_RED, _BLUE = "#c0392b", "#2471a3"
_RADIUS = 33


def draw() -> str:
    """Return the picture as SVG."""
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 540 300" width="540" height="300" '
        'font-family="sans-serif" font-size="13">',
        "<title>Two graphs over the same variables</title>",
        '<rect width="100%" height="100%" fill="white"/>',
        *(_marker(name, colour) for name, colour in (("mean", _RED), ("variance", _BLUE))),
        *(_edge(*edge, "mean", _RED, "") for edge in _MEAN),
        *(_edge(*edge, "variance", _BLUE, ' stroke-dasharray="7 4"') for edge in _VARIANCE),
    ]
    for name, (x, y) in _POSITIONS.items():
        parts.append(f'<circle cx="{x}" cy="{y}" r="{_RADIUS}" fill="white" stroke="#444"/>')
        parts.append(f'<text x="{x}" y="{y + 4}" text-anchor="middle">{escape(name)}</text>')
    for y, label, colour, dashes in (
        (262, "moves the mean", _RED, ""),
        (284, "moves the variance", _BLUE, ' stroke-dasharray="7 4"'),
    ):
        line = f'<line x1="20" y1="{y}" x2="60" y2="{y}" stroke="{colour}" stroke-width="2.2"'
        parts += [f"{line}{dashes}/>", f'<text x="70" y="{y + 4}">{label}</text>']
    return "\n".join([*parts, "</svg>", ""])


def _marker(name: str, colour: str) -> str:
    return (
        f'<marker id="{name}" viewBox="0 0 10 10" refX="10" refY="5" markerWidth="11" '
        f'markerHeight="11" markerUnits="userSpaceOnUse" orient="auto">'
        f'<path d="M0 0L10 5L0 10z" fill="{colour}"/></marker>'
    )


def _edge(cause: str, effect: str, marker: str, colour: str, dashes: str) -> str:
    """Draw an arrow from the rim of one circle to the rim of the other."""
    (x1, y1), (x2, y2) = _POSITIONS[cause], _POSITIONS[effect]
    length = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5
    dx, dy = _RADIUS * (x2 - x1) / length, _RADIUS * (y2 - y1) / length
    ends = f'x1="{x1 + dx:.1f}" y1="{y1 + dy:.1f}" x2="{x2 - dx:.1f}" y2="{y2 - dy:.1f}"'
    return (
        f'<line {ends} stroke="{colour}" stroke-width="2.2" marker-end="url(#{marker})"{dashes}/>'
    )
