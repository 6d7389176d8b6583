"""Errors that a user is meant to read, and lines on stderr."""
import sys

FINE, FAILED, BAD_INPUT, OTHER_ENDED = 0, 1, 2, 3  # exit statuses; the first three are those of `rondo`


class Failure(Exception):
    """An error with what to do about it, and the exit status."""

    def __init__(self, message, remedy=None, status=BAD_INPUT):
        super().__init__(message if remedy is None else f"{message}\n  {remedy}")
        self.status = status


def say(text):
    """In one write, so that lines of several processes on one terminal do not mix."""
    sys.stderr.write(f"rondo: {text}\n")
    sys.stderr.flush()


def list_of(names, most=8):
    names = [str(name) for name in names]
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "") if names else "none"
