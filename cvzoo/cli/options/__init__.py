"""The options of each verb, a file a verb; its first line is the verb's in `cvzoo --help`. Imports nothing heavy."""
