"""The machine and the tools of a report."""

from __future__ import annotations

import os
import platform
from pathlib import Path

_HUGE_PAGES = "sys/kernel/mm/transparent_hugepage/enabled"
_GOVERNOR = "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"


def machine(root: Path = Path("/")) -> dict[str, str]:
    """The machine, from the kernel's files below `root`."""
    processor = _field(root / "proc/cpuinfo", "model name", ":")
    flags = _field(root / "proc/cpuinfo", "flags", ":").split()
    memory = _field(root / "proc/meminfo", "MemTotal", ":").removesuffix("kB").strip()
    return {
        "Processor": processor or platform.machine(),
        "Cores": f"{os.cpu_count() or 1}" + (", of a virtual machine" if "hypervisor" in flags else ""),
        "Governor": _text(root / _GOVERNOR) or "not shown by this kernel",
        "Memory": f"{int(memory) / (1 << 20):.1f} GiB" if memory.isdigit() else "unknown",
        "Huge pages": _chosen(_text(root / _HUGE_PAGES)),
        "Kernel": platform.release(),
        "System": _field(root / "etc/os-release", "PRETTY_NAME", "=").strip('"') or platform.system(),
    }


def load() -> str:
    """Of the last 1, 5 and 15 minutes."""
    return ", ".join(f"{one:.2f}" for one in os.getloadavg())


def idle_share() -> float:
    """The share of a processor that one more program gets, so that a run on a busy machine is not several times as
    long."""
    return min(1.0, (os.cpu_count() or 1) / (os.getloadavg()[0] + 1))


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def _field(file: Path, name: str, separator: str) -> str:
    for line in _text(file).splitlines():
        key, found, value = line.partition(separator)
        if found and key.strip() == name:
            return value.strip()
    return ""


def _chosen(text: str) -> str:
    """always [madvise] never -> madvise"""
    inside = text.partition("[")[2].partition("]")[0]
    return inside or "not shown by this kernel"
