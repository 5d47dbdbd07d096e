"""STOR009: no default StorageClass, or several."""

from collections.abc import Iterator

from kauditor.api import Area, Finding, Severity, StorageClasses, check, ok, seen, skip, warn


@check(
    id="STOR009",
    area=Area.STORAGE,
    severity=Severity.LOW,
    since="0.1",
    references=(
        "https://kubernetes.io/docs/concepts/storage/storage-classes/#default-storageclass",
    ),
    effort="10 minutes",
    risk="low",
)
def ambiguous_default_class(classes: StorageClasses) -> Iterator[Finding]:
    """There is not exactly one default StorageClass.

    ## Why it breaks
    A claim without a class gets none where no class is the default, and the newest of several
    defaults where there are more: whoever installs a driver changes where everybody's data lies.

    ## Fix
    Mark exactly one StorageClass as the default.

    ```shell
    kubectl annotate storageclass NAME storageclass.kubernetes.io/is-default-class=true
    ```

    ## Verify
    ```shell
    kubectl get storageclasses
    ```
    """
    if not classes.classes:
        yield skip("There are no StorageClasses.", evidence=[seen("classes", 0, classes)])
        return
    defaults = [one.name for one in classes.classes if one.default]
    evidence = [
        seen("classes", ", ".join(one.name for one in classes.classes), classes),
        seen("defaults", ", ".join(defaults), classes),
    ]
    if len(defaults) == 1:
        yield ok(f"{defaults[0]} is the one default class.", evidence=evidence)
    else:
        count = "no class is" if not defaults else f"{len(defaults)} classes are"
        yield warn(
            f"Of {len(classes.classes)} StorageClasses {count} the default.",
            subject="default StorageClass",
            evidence=evidence,
        )
