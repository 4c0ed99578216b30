"""Passwords that come with their hash: verified at the next sign-in, renewed, and never computed beyond their bounds."""

import base64
import hashlib
import time

import argon2
import bcrypt
import pytest
from django.contrib.auth.hashers import identify_hasher

from accounts.hashers import MAX_LENGTH, can_be_imported
from accounts.models import User
from config import settings as product
from tests.client import ApiClient
from tests.factories import make_user
from tests.integrations.server import new_user, server

PASSWORD = "seven tall trees"


def b64(value):
    return base64.b64encode(value).decode()


def pbkdf2(password=PASSWORD, rounds=1000):
    return f"pbkdf2_sha256${rounds}$salt${b64(hashlib.pbkdf2_hmac('sha256', password.encode(), b'salt', rounds))}"


def argon(password=PASSWORD, kind=argon2.Type.ID, **costs):
    costs = {"time_cost": 1, "memory_cost": 64, "parallelism": 1} | costs
    return "argon2" + argon2.PasswordHasher(**costs, type=kind).hash(password)


def blowfish(password=PASSWORD, prefix="2b"):
    hashed = bcrypt.hashpw(password.encode()[:72], bcrypt.gensalt(4)).decode()
    return f"bcrypt${hashed.replace('$2b$', f'${prefix}$')}"


def blowfish_sha256(password=PASSWORD):
    digest = hashlib.sha256(password.encode()).hexdigest().encode()
    return f"bcrypt_sha256${bcrypt.hashpw(digest, bcrypt.gensalt(4)).decode()}"


def scrypt(password=PASSWORD, n=2**10, r=8, p=1):
    hashed = hashlib.scrypt(password.encode(), salt=b"salt", n=n, r=r, p=p, dklen=64, maxmem=2**29)
    return f"scrypt${n}$salt${r}${p}${b64(hashed)}"


GOOD = {
    "PBKDF2": pbkdf2,
    "Argon2id": argon,
    "Argon2i": lambda password=PASSWORD: argon(password, argon2.Type.I),
    "Argon2d": lambda password=PASSWORD: argon(password, argon2.Type.D),
    "bcrypt": blowfish,
    "bcrypt of PHP": lambda password=PASSWORD: blowfish(password, "2y"),
    "bcrypt of SHA-256": blowfish_sha256,
    "scrypt": scrypt,
    "scrypt with much memory": lambda password=PASSWORD: scrypt(password, 2**16, 16),
}


@pytest.fixture
def hashers(settings):
    settings.PASSWORD_HASHERS = product.PASSWORD_HASHERS


def login(password, status=200):
    return ApiClient().post("/api/v1/auth/login", {"email": "mia@example.com", "password": password}, status)


@pytest.mark.parametrize("kind", GOOD)
def test_an_imported_password_signs_in_and_is_renewed(db, hashers, kind):
    new_user(server(), password_hash=GOOD[kind]())
    login("another password", 401)
    login(PASSWORD)
    renewed = User.objects.get().password
    assert renewed.startswith("argon2$argon2id$v=19$m=19456,t=2,p=1$")
    login(PASSWORD)
    login("another password", 401)


@pytest.mark.parametrize("kind", ["PBKDF2", "Argon2id", "bcrypt", "scrypt"])
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_password_is_found_in_either_spelling(db, hashers, kind, form):
    composed, decomposed = "caf\u00e9 au lait!", "cafe\u0301 au lait!"
    new_user(server(), password_hash=GOOD[kind](composed if form == "NFC" else decomposed))
    login(composed if form == "NFC" else decomposed)
    # Renewed, both are one.
    login(composed)
    login(decomposed)


def test_a_long_password_of_bcrypt(db, hashers):
    long = "x" * 71 + "é" + "y" * 100
    new_user(server(), password_hash=blowfish(long))
    login(long)


A43, A86, A53 = "A" * 43, "A" * 86, "A" * 53
# Above the bounds, or no whole hash of a known format.
BAD = {
    "PBKDF2 rounds": f"pbkdf2_sha256$2000001$salt${A43}=",
    "PBKDF2 no rounds": f"pbkdf2_sha256$0$salt${A43}=",
    "PBKDF2 negative": f"pbkdf2_sha256$-1$salt${A43}=",
    "PBKDF2 without salt": f"pbkdf2_sha256$1000$${A43}=",
    "PBKDF2 short": "pbkdf2_sha256$1000$salt$AAAA",
    "PBKDF2 of SHA-1": "pbkdf2_sha1$1000$salt$AAAAAAAAAAAAAAAAAAAAAAAAAAA=",
    "PBKDF2 digits of another script": f"pbkdf2_sha256$١٠٠٠$salt${A43}=",
    "Argon2 memory": f"argon2$argon2id$v=19$m=262145,t=1,p=1${A43}${A43}",
    "Argon2 passes": f"argon2$argon2id$v=19$m=64,t=11,p=1${A43}${A43}",
    "Argon2 threads": f"argon2$argon2id$v=19$m=128,t=1,p=9${A43}${A43}",
    "Argon2 too little memory": f"argon2$argon2id$v=19$m=8,t=1,p=2${A43}${A43}",
    "Argon2 zero": f"argon2$argon2id$v=19$m=0,t=0,p=0${A43}${A43}",
    "Argon2 of another version": f"argon2$argon2id$v=18$m=64,t=1,p=1${A43}${A43}",
    "Argon2 without its name": f"$argon2id$v=19$m=64,t=1,p=1${A43}${A43}",
    "Argon2 cut off": "argon2$argon2id$v=19$m=64,t=1,p=1$AAAA",
    "bcrypt rounds": f"bcrypt$$2b$15${A53}",
    "bcrypt too few rounds": f"bcrypt$$2b$03${A53}",
    "bcrypt of another kind": f"bcrypt$$2x$10${A53}",
    "bcrypt without its name": f"$2b$10${A53}",
    "bcrypt of SHA-256 rounds": f"bcrypt_sha256$$2b$31${A53}",
    "scrypt N": f"scrypt$262144$salt$8$1${A86}==",
    "scrypt N no power of two": f"scrypt$1000$salt$8$1${A86}==",
    "scrypt N 1": f"scrypt$1$salt$8$1${A86}==",
    "scrypt r": f"scrypt$1024$salt$17$1${A86}==",
    "scrypt p": f"scrypt$1024$salt$8$5${A86}==",
    "scrypt 0": f"scrypt$1024$salt$0$0${A86}==",
    "MD5": "md5$salt$0123456789abcdef0123456789abcdef",
    "unusable": "!abcdefgh",
    "plain text": "seven tall trees",
    "empty": "",
    "a line break": f"pbkdf2_sha256$1000$salt${A43}=\n",
    "too long": f"pbkdf2_sha256$1000${'s' * MAX_LENGTH}${A43}=",
}


@pytest.mark.once
@pytest.mark.parametrize("kind", BAD)
def test_a_hash_beyond_the_bounds_is_refused(kind):
    assert not can_be_imported(BAD[kind])


def test_the_refusal_names_the_field(db):
    client = server()
    for encoded in BAD.values():
        assert new_user(client, 400, password_hash=encoded)["fields"].keys() == {"password_hash"}


@pytest.mark.parametrize("kind", [kind for kind in BAD if kind != "too long"])
def test_a_stored_one_is_never_computed(db, hashers, kind):
    """A hash may have come into the table by another way: a restored backup, an older release."""
    user = make_user("Mia", email="mia@example.com")
    User.objects.filter(id=user.id).update(password=BAD[kind])
    started = time.process_time()
    login(PASSWORD, 401)
    assert time.process_time() - started < 1


@pytest.mark.once
@pytest.mark.parametrize(
    "encoded",
    [
        f"pbkdf2_sha256$2000000$salt${A43}=",
        f"argon2$argon2id$v=19$m=262144,t=10,p=8${A43}${A43}",
        f"bcrypt$$2b$14${A53}",
        f"bcrypt_sha256$$2b$14${A53}",
        f"scrypt$131072$salt$16$4${A86}==",
    ],
)
def test_the_bounds_themselves_are_accepted(encoded, hashers):
    assert can_be_imported(encoded)
    assert identify_hasher(encoded).is_affordable(encoded)
