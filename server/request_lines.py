"""Parses the lines of a request. Does not import Django, because worker processes load it before the settings."""

import re

import h11
from h11._receivebuffer import ReceiveBuffer

# A line that ends without CR, or that continues on the next one.
AMBIGUOUS_LINE = re.compile(rb"(?<!\r)\n|\n[ \t]")
# HTTP/2 and later have frames instead of lines. Lines of a trailer are read like those of a request.
OTHER_VERSION = re.compile(rb"[^\r]* HTTP/(?!1\.[0-9]\r\n)")
LENGTH_FIELD = re.compile(rb"\r\n(?:content-length|transfer-encoding)[^\r]*", re.IGNORECASE)
CHUNKED_BEFORE_CHUNKS = re.compile(rb"[^\r]+ HTTP/1\.0\r\n(?s:.*)(?<=\n)transfer-encoding", re.IGNORECASE)
# With more digits a length or a size is larger than some servers can count.
LENGTH = re.compile(rb"\r\n(?:content-length:[ \t]*[0-9]{1,15}[ \t]*|transfer-encoding:[^,]*)", re.IGNORECASE)
CHUNK_HEADER = re.compile(rb"[0-9a-fA-F]{1,15}(?:;[\t -\xff]*)?\r\n")


# Overrides methods that h11 does not document: docs/decisions/serving.md#0094
class StrictLines(ReceiveBuffer):
    """h11's buffer, which refuses lines that another server may read differently: line ends without CR, folded lines,
    two or odd lengths, odd chunk sizes, another version. A proxy in front could see the end of such a request elsewhere (RFC 9112, 11.2)."""

    # How much of the incomplete lines has been checked.
    _searched = 0

    def maybe_extract_lines(self) -> list[bytearray] | None:
        if self._data.startswith(b"\r\n"):
            return super().maybe_extract_lines()
        blank = self._data.find(b"\r\n\r\n", max(0, self._searched - 3))
        end = len(self._data) if blank < 0 else blank + 2
        if AMBIGUOUS_LINE.search(self._data, max(0, self._searched - 1), end):
            raise h11.RemoteProtocolError("a line that servers read in different ways")
        if blank < 0:
            self._searched = end
            return None
        self._searched = 0
        lengths = LENGTH_FIELD.findall(self._data, 0, end)
        if len(lengths) > 1 or not all(map(LENGTH.fullmatch, lengths)):
            raise h11.RemoteProtocolError("more than one length, or one that servers read in different ways")
        if OTHER_VERSION.match(self._data, 0, end):
            raise h11.RemoteProtocolError("not a request of HTTP/1")
        if CHUNKED_BEFORE_CHUNKS.match(self._data, 0, end):
            raise h11.RemoteProtocolError("HTTP/1.0 has no chunks")
        return super().maybe_extract_lines()

    def maybe_extract_next_line(self) -> bytearray | None:
        line = super().maybe_extract_next_line()
        if line is not None and not CHUNK_HEADER.fullmatch(line):
            raise h11.RemoteProtocolError("a chunk whose size servers read in different ways")
        return line
