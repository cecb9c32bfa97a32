"""Figures as pictures for slides and word processors, drawn on the server: identical on machines without any fonts."""

from pathlib import Path

from candor.figures.drawing import Drawing

FONTS = Path(__file__).resolve().parents[2] / "platform" / "static" / "fonts"
FONT = "Candor Figures"
PIXELS_PER_PIXEL = 2  # sharp on paper and on today's screens


def png(drawing: Drawing) -> bytes:
    """Letters beyond Latin come from the fonts of the machine, if it has some."""
    import resvg_py  # not needed by a web process that draws no picture

    return bytes(
        resvg_py.svg_to_bytes(
            svg_string=drawing.svg(font=f"{FONT}, sans-serif"),
            font_files=[str(FONTS / f"candor-figures-{weight}.ttf") for weight in ("regular", "semibold")],
            font_family=FONT,
            sans_serif_family=FONT,
            zoom=PIXELS_PER_PIXEL,
        )
    )
