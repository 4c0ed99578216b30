"""Confines the decoding process: after its start it may only compute, and read and write open files.

A fault in a decoder then cannot reach a file, another process or the network. This works on Linux on x86-64 and ARM64;
elsewhere only the limits of the operating system (setrlimit) hold. Imports only the standard library.
"""

import ctypes
import os
import resource
import struct
import sys

_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP = 38, 22
_SECCOMP_MODE_FILTER = 2
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050000 | 1, 0x80000000  # 1 is EPERM
_LOAD, _EQUALS, _RETURN = 0x20, 0x15, 0x06

# By machine: its number in the kernel's audit interface, and the system calls that stay allowed. prlimit64 (setrlimit) is
# allowed for the process itself alone.
_CALLS: dict[str, tuple[int, dict[str, int]]] = {
    "x86_64": (
        0xC000003E,
        {
            "read": 0, "write": 1, "close": 3, "fstat": 5, "poll": 7, "lseek": 8, "mmap": 9, "mprotect": 10,
            "munmap": 11, "brk": 12, "rt_sigaction": 13, "rt_sigprocmask": 14, "rt_sigreturn": 15, "readv": 19,
            "writev": 20, "select": 23, "sched_yield": 24, "mremap": 25, "madvise": 28, "getpid": 39, "exit": 60,
            "gettimeofday": 96, "getrlimit": 97, "getrusage": 98, "sigaltstack": 131, "gettid": 186, "time": 201,
            "futex": 202, "restart_syscall": 219, "clock_gettime": 228, "clock_nanosleep": 230, "exit_group": 231,
            "pselect6": 270, "ppoll": 271, "getrandom": 318,
        },
    ),
    "aarch64": (
        0xC00000B7,
        {
            "close": 57, "lseek": 62, "read": 63, "write": 64, "readv": 65, "writev": 66, "pselect6": 72, "ppoll": 73,
            "fstat": 80, "exit": 93, "exit_group": 94, "futex": 98, "clock_gettime": 113, "clock_nanosleep": 115,
            "sched_yield": 124, "restart_syscall": 128, "sigaltstack": 132, "rt_sigaction": 134,
            "rt_sigprocmask": 135, "rt_sigreturn": 139, "getrlimit": 163, "getrusage": 165, "gettimeofday": 169,
            "getpid": 172, "gettid": 178, "brk": 214, "munmap": 215, "mremap": 216, "mmap": 222, "mprotect": 226,
            "madvise": 233, "getrandom": 278,
        },
    ),
}  # fmt: skip
_PRLIMIT = {"x86_64": 302, "aarch64": 261}
# In the kernel's seccomp_data.
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p)]


def confine() -> bool:
    """Gives up the right to open files, start processes and gain privileges, for good. Returns whether the kernel filters
    system calls.

    Import everything before: no module can be loaded afterwards.
    """
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    if sys.platform != "linux":
        return False
    library = ctypes.CDLL(None, use_errno=True)
    machine = os.uname().machine
    if library.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or machine not in _CALLS or sys.maxsize < 2**32:
        return False
    instructions = _filter(machine)
    buffer = ctypes.create_string_buffer(instructions, len(instructions))
    program = _Program(len(instructions) // 8, ctypes.addressof(buffer))
    return library.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0) == 0


def _filter(machine: str) -> bytes:
    """The filter as a program of the kernel's packet filter."""
    architecture, calls = _CALLS[machine]
    numbers = sorted(calls.values())
    steps = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUALS, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
        # Jumps count the instructions that they skip.
        *((_EQUALS, len(numbers) - place + 3, 0, number) for place, number in enumerate(numbers)),
        (_EQUALS, 0, 2, _PRLIMIT[machine]),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        (_EQUALS, 1, 0, 0),
        (_RETURN, 0, 0, _REFUSE),
        (_RETURN, 0, 0, _ALLOW),
    ]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)
