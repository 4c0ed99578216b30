"""A body that is refused is taken in, so that the answer arrives; one that comes in chunks is measured."""

import io

from django.test import RequestFactory

from config import middleware


def test_the_rest_of_a_refused_body_is_read_up_to_a_limit(rf: RequestFactory, monkeypatch):
    monkeypatch.setattr(middleware, "REFUSED_BODY_READ", 200_000)
    for size, left in ((150_000, 0), (500_000, 300_000)):
        source = io.BytesIO(b"x" * size)
        request = rf.generic("POST", "/", b"", **{"wsgi.input": source, "CONTENT_LENGTH": str(size)})
        middleware._read_the_rest(request)
        assert size - source.tell() == left


def test_a_body_in_chunks_gets_a_length_and_is_read_up_to_a_limit(rf: RequestFactory, monkeypatch):
    monkeypatch.setattr(middleware, "REFUSED_BODY_READ", 131_072)
    for size, taken in ((0, 0), (1_000, 1_000), (500_000, 131_072)):
        source = io.BytesIO(b"x" * size)
        request = rf.generic("POST", "/", b"", **{"wsgi.input": source, "HTTP_TRANSFER_ENCODING": "chunked"})
        middleware._read_chunked_body(request)
        assert (request.META["CONTENT_LENGTH"], len(request.read())) == (str(taken), taken)
