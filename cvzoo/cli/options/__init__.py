"""The options of each verb, one file per verb; its first line is shown in `cvzoo --help`. Imports nothing heavy."""
