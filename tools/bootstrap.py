"""Makes ``.venv`` and installs finpath from its lock file, on a machine that has Python and nothing else.

    python3 tools/bootstrap.py base     # what `make demo` needs: requirements.lock
    python3 tools/bootstrap.py dev      # what `make test` and `make lint` need: requirements-dev.lock

Every package is checked against the hash in the lock file. A stamp in ``.venv`` remembers what was installed, so the
second call returns at once. Written for any Python 3, because its first task is to report that yours is too old.
"""

import hashlib
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.join(ROOT, ".venv")
LOCKS = {"base": "requirements.lock", "dev": "requirements-dev.lock"}
OLDEST = (3, 11)


def say(text):
    """One line on what happens now."""
    sys.stderr.write("[setup] %s\n" % text)
    sys.stderr.flush()


def fail(text):
    """Ends with a message in place of a traceback."""
    say(text)
    raise SystemExit(1)


def python_new_enough(executable):
    """Whether an interpreter runs, is new enough and can make environments."""
    check = "import sys, venv, ensurepip; sys.exit(sys.version_info < (%d, %d))" % OLDEST
    return subprocess.call([executable, "-c", check], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) == 0


def find_python():
    """The interpreter to build the environment with: this one."""
    if python_new_enough(sys.executable):
        return sys.executable
    if sys.version_info < OLDEST:
        fail("finpath needs Python %d.%d or newer. Install one, or name it: make PYTHON=/path/to/python3" % OLDEST)
    return fail("%s cannot make virtual environments. On Debian and Ubuntu: apt install python3-venv" % sys.executable)


def venv_python():
    """The interpreter inside the environment."""
    folder, name = ("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")
    return os.path.join(VENV, folder, name)


def fingerprint(kind):
    """Changes when what is to be installed changes."""
    digest = hashlib.sha256(sys.version.encode())
    for name in (LOCKS[kind], "pyproject.toml"):
        with open(os.path.join(ROOT, name), "rb") as file:
            digest.update(file.read())
    return digest.hexdigest()


def stamp(kind):
    """The file that remembers what was installed."""
    return os.path.join(VENV, "finpath-%s.stamp" % kind)


def is_done(kind):
    """Whether ``kind`` was installed from the files as they are now."""
    if not (os.path.exists(stamp(kind)) and os.path.exists(venv_python())):
        return False
    with open(stamp(kind)) as file:
        return file.read() == fingerprint(kind)


def run_pip(arguments):
    """Runs pip in the environment; its whole output is shown when it fails."""
    command = [venv_python(), "-m", "pip", "install", "--no-input", "--no-deps", "--progress-bar", "off"]
    environment = dict(os.environ, PIP_DISABLE_PIP_VERSION_CHECK="1", PIP_NO_WARN_SCRIPT_LOCATION="1")
    process = subprocess.Popen(
        command + arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True, env=environment
    )
    output = process.communicate()[0]
    if process.returncode != 0:
        sys.stderr.write(output)
        fail("pip could not install from the lock file; its output is above")


def install(kind):
    """Makes the environment if it is missing and installs ``kind``, then the checkout itself."""
    if not (os.path.exists(venv_python()) and python_new_enough(venv_python())):
        python = find_python()
        say("making .venv with %s" % python)
        if subprocess.call([python, "-m", "venv", "--clear", VENV]) != 0:
            fail("could not make .venv; the reason is above")
    lock = os.path.join(ROOT, LOCKS[kind])
    say("installing the packages of %s into .venv, once; it takes a minute or two" % LOCKS[kind])
    run_pip(["--require-hashes", "--only-binary", ":all:", "-r", lock])
    run_pip(["--no-build-isolation", "--editable", ROOT])
    for done in ("base", "dev") if kind == "dev" else ("base",):
        with open(stamp(done), "w") as file:
            file.write(fingerprint(done))


if __name__ == "__main__":
    wanted = sys.argv[1] if len(sys.argv) > 1 else "base"
    if not is_done(wanted):
        install(wanted)
