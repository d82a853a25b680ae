"""What bash completes, asked of bash."""

import shutil
import subprocess

import pytest

from cvzoo.cli.main import main

WORDS = [
    (["pre"], {"predict"}),
    (["data", "sp"], {"split"}),
    (["data", "split", "--group-d"], {"--group-duplicates"}),
    (["predict", "--cf"], {"--cfg"}),
    (["predict", "photo"], set()),  # names of files are bash's own
]


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes_verbs_actions_and_options(capsys):
    with pytest.raises(SystemExit) as end:
        main(["--completion"])
    assert end.value.code == 0
    script = capsys.readouterr().out
    for words, wanted in WORDS:
        typed = f"COMP_WORDS=(cvzoo {' '.join(words)}); COMP_CWORD={len(words)}; _cvzoo; echo ${{COMPREPLY[*]}}"
        done = subprocess.run(["bash", "-c", script + typed], capture_output=True, text=True, check=True)
        assert set(done.stdout.split()) == wanted, words
