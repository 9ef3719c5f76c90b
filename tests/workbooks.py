"""Excel workbooks as small as they can be, made without a library."""

import zipfile
from collections.abc import Sequence
from io import BytesIO
from xml.sax.saxutils import escape

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
_KIND = "application/vnd.openxmlformats-officedocument.spreadsheetml"

Cell = str | float | bool | None


def workbook(sheets: dict[str, Sequence[Sequence[Cell]]]) -> bytes:
    """The bytes of an .xlsx file with these sheets; None is an empty cell."""
    names = list(sheets)
    listed = "".join(f'<sheet name="{escape(n)}" sheetId="{i}" r:id="r{i}"/>' for i, n in enumerate(names, 1))
    links = "".join(
        f'<Relationship Id="r{i}" Type="{_OFFICE}/worksheet" Target="worksheets/s{i}.xml"/>'
        for i in range(1, len(names) + 1)
    )
    parts = "".join(
        f'<Override PartName="/xl/worksheets/s{i}.xml" ContentType="{_KIND}.worksheet+xml"/>'
        for i in range(1, len(names) + 1)
    )
    files = {
        "[Content_Types].xml": f'<Types xmlns="{_TYPES}"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_KIND}.sheet.main+xml"/>{parts}</Types>',
        "_rels/.rels": f'<Relationships xmlns="{_RELATIONS}"><Relationship Id="r1" Type="{_OFFICE}/officeDocument" '
        'Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_RELATIONS}">{links}</Relationships>',
    }
    for i, rows in enumerate(sheets.values(), 1):
        text = "".join(_row(number, row) for number, row in enumerate(rows, 1))
        files[f"xl/worksheets/s{i}.xml"] = f'<worksheet xmlns="{_MAIN}"><sheetData>{text}</sheetData></worksheet>'
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, '<?xml version="1.0" encoding="UTF-8"?>' + text)
    return packed.getvalue()


def _row(number: int, row: Sequence[Cell]) -> str:
    cells = "".join(_cell(f"{chr(65 + j)}{number}", value) for j, value in enumerate(row) if value is not None)
    return f'<row r="{number}">{cells}</row>'


def _cell(place: str, value: Cell) -> str:
    if isinstance(value, bool):
        return f'<c r="{place}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, str) and value.startswith("#"):
        return f'<c r="{place}" t="e"><v>{escape(value)}</v></c>'
    if isinstance(value, str):
        return f'<c r="{place}" t="inlineStr"><is><t>{escape(value)}</t></is></c>'
    return f'<c r="{place}"><v>{value!r}</v></c>'
