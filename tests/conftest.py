"""Fixtures shared by all tests. What needs Lean is marked ``lean`` and shares one toolchain."""

from __future__ import annotations

import pytest

from lemmata.lean.kernels import NativeKernel, find_native_kernel
from lemmata.lean.toolchain import EmbeddedToolchain, embedded_toolchain

LEAN_FIXTURES = {"embedded"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what uses Lean, and run it after everything that does not."""
    for item in items:
        if not LEAN_FIXTURES.isdisjoint(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.lean)
    items.sort(key=lambda item: item.get_closest_marker("lean") is not None)


@pytest.fixture(scope="session")
def embedded() -> EmbeddedToolchain:
    """The embedded Lean from the user's cache, installed there if need be."""
    return embedded_toolchain()


@pytest.fixture(scope="session")
def native_kernel(embedded: EmbeddedToolchain) -> NativeKernel:
    kernel = find_native_kernel(embedded)
    assert kernel is not None, "the native kernel and its base must be installed for the tests"
    return kernel
