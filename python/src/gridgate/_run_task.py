"""Runs in the job of a map: calls the function with its parameter and writes the result. Needs Python alone."""

import json
import pickle
import sys


def main() -> None:
    """The job: its argument is the place of the parameter."""
    sys.path.insert(0, "gridgate_cloudpickle.zip")
    with open("gridgate_task.pkl", "rb") as file:  # noqa: PTH123
        task = pickle.load(file)
    here = list(sys.version_info[:2])
    if here != task["python"]:
        said = "{}.{} here, {}.{} where map was called".format(*here, *task["python"])
        sys.exit("Python " + said + ": name the right interpreter with python=")
    function = pickle.loads(task["function"])
    result = function(pickle.loads(task["parameters"][int(float(sys.argv[1]))]))
    if task["results"] == "pickle":
        import cloudpickle

        content = cloudpickle.dumps(result)
    else:
        check(result)
        content = json.dumps(result).encode()
    with open("gridgate_result." + ("pkl" if task["results"] == "pickle" else "json"), "wb") as file:  # noqa: PTH123
        file.write(content)


def check(value: object) -> None:
    """Refuses what JSON cannot carry: another type, or keys that would come back as texts."""
    if isinstance(value, dict):
        for key, member in value.items():
            if not isinstance(key, str):
                sys.exit(f"the result has the key {key!r}, which JSON cannot carry: ask for results='pickle'")
            check(member)
    elif isinstance(value, (list, tuple)):
        for member in value:
            check(member)
    elif value is not None and type(value) not in (bool, int, float, str):
        sys.exit(f"the result is a {type(value).__name__}, which JSON cannot carry: ask for results='pickle'")


if __name__ == "__main__":
    main()
