"""Makes the pictures small and puts them where they are shown.

usage: publish_pictures.py FOLDER
"""

import sys
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parents[3]
SHOWN = {
    ROOT / "editors/vscode/images": ("job", "finding", "link", "report"),
    ROOT / "docs/images": ("finding",),
}
LARGEST_BYTES = 150_000


def few_colours(image):
    """The image in its 256 most frequent colours: an editor's own, and most of the edges of its letters."""
    frequent = sorted(image.getcolors(image.width * image.height), reverse=True)[:256]
    palette = Image.new("P", (1, 1))
    palette.putpalette([channel for _, colour in frequent for channel in colour])
    return image.quantize(palette=palette, dither=Image.Dither.NONE)


def main(folder):
    for target, names in SHOWN.items():
        target.mkdir(parents=True, exist_ok=True)
        for name in names:
            for theme in ("light", "dark"):
                source = folder / f"{name}-{theme}.png"
                picture = target / source.name
                few_colours(Image.open(source).convert("RGB")).save(picture, optimize=True)
                size = picture.stat().st_size
                print(f"{picture.relative_to(ROOT)}: {size // 1000} kB")
                if size > LARGEST_BYTES:
                    sys.exit(f"{picture.name} is too large")


main(Path(sys.argv[1]))
