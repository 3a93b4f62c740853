"""Prints what the package offers (__all__) as JSON: signatures and docstrings, read from its sources without running them."""

import ast
import json
import sys
from pathlib import Path

PACKAGE = Path(sys.argv[1])


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def module_file(name: str) -> Path:
    return PACKAGE.joinpath(*name.split(".")).with_suffix(".py")


def decorators(node: ast.AST) -> list:
    return [ast.unparse(each) for each in getattr(node, "decorator_list", [])]


def signature(node: ast.AST) -> str:
    """As one writes it: without self, and with what it answers."""
    arguments = ast.unparse(node.args)
    for own in ("self, ", "self", "cls, ", "cls"):
        if arguments.startswith(own):
            arguments = arguments[len(own) :]
            break
    word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    returns = f" -> {ast.unparse(node.returns)}" if node.returns is not None else ""
    return f"{word} {node.name}({arguments}){returns}"


def members(node: ast.ClassDef) -> list:
    found = []
    for each in node.body:
        if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)) and not each.name.startswith("_"):
            words = ast.get_docstring(each) or ""
            if "property" in decorators(each):
                kind = ast.unparse(each.returns) if each.returns is not None else "Any"
                found.append({"name": each.name, "code": f"{each.name}: {kind}", "words": words})
            elif "overload" not in decorators(each):
                found.append({"name": each.name, "code": signature(each), "words": words})
    return found


def fields(node: ast.ClassDef) -> list:
    return [ast.unparse(each) for each in node.body if isinstance(each, ast.AnnAssign) and not ast.unparse(each).startswith("_")]


def described(node: ast.AST) -> dict:
    if isinstance(node, ast.ClassDef):
        bases = [ast.unparse(base) for base in node.bases]
        made = [each for each in node.body if isinstance(each, ast.FunctionDef) and each.name == "__init__"]
        called = signature(made[0])[len("def __init__") :].split(" -> ")[0] if made else ""
        head = f"class {node.name}({', '.join(bases)})" if bases else f"class {node.name}"
        return {
            "code": "\n".join([head, *([f"{node.name}{called}"] if called else [])]),
            "words": ast.get_docstring(node) or "",
            "fields": fields(node),
            "members": members(node),
            "bases": bases,
        }
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return {"code": signature(node), "words": ast.get_docstring(node) or "", "fields": [], "members": [], "bases": []}
    return {"code": ast.unparse(node), "words": "", "fields": [], "members": [], "bases": []}


def named(tree: ast.Module) -> dict:
    found = {}
    for node in tree.body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            found[node.name] = node
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found.update({ast.unparse(target): node for target in targets})
    return found


def inherited(name: str, origin: dict) -> dict:
    """What a class has from the classes of the package that nobody names, such as Transport."""
    entry = described(origin[name][0])
    for base in entry["bases"]:
        tree = origin[name][1]
        for node in tree.body:
            if isinstance(node, ast.ImportFrom) and any(alias.name == base for alias in node.names):
                path = origin[name][2].parent.joinpath(*(node.module or "").split(".")).with_suffix(".py")
                if node.level == 1 and path.exists():
                    above = described(named(tree_of(path))[base])
                    if not entry["code"].count("\n"):
                        entry["code"] += above["code"].partition("\n")[2].replace(base, "\n" + name, 1)
                    taken = {member["name"] for member in entry["members"]}
                    entry["members"] += [member for member in above["members"] if member["name"] not in taken]
    return entry


package = tree_of(PACKAGE / "__init__.py")
origin = {}
for node in package.body:
    if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module:
        path = module_file(node.module)
        tree = tree_of(path)
        found = named(tree)
        origin.update({alias.name: (found[alias.name], tree, path) for alias in node.names})
offered = next(ast.literal_eval(node.value) for node in package.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__")
json.dump([{"name": name, **inherited(name, origin)} for name in offered if name in origin], sys.stdout)
