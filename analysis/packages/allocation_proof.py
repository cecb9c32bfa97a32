"""allocation-proof.txt: evidence that the groups were drawn before anybody took part."""

from analysis.packages.content import Content


def allocation_proof(content: Content) -> bytes:
    """Each list with the hash that was published when it was drawn, and instructions to compare them."""
    parts = [
        "Chance decided who got which arm and subsample, by lists that were drawn before anybody could use them.",
        f"The SHA-256 of each list was published when it was drawn, at {content.site}/s/{content.slug}/allocation/",
        "The lists themselves stand below with their nonces, one line each. To check list N, in the folder of this file:",
        "",
        "    grep '^{' allocation-proof.txt | sed -n Np | tr -d '\\n' | sha256sum",
        "",
        "A list has more lines than there are rows in data.csv when people did not finish or withdrew, or it was not used up. It says",
        "nothing about who stands where in data.csv, whose rows are in random order.",
    ]
    for one in content.allocation_lists:
        parts += ["", f"List {one.number}", f"SHA-256: {one.sha256}", one.document]
    return ("\n".join(parts) + "\n").encode()
