/**
 * The page index.html of a data package: computes the estimates again, from copies of three files that the page brings, and checks the
 * files that the reader gives it, by their hashes and the signature. It stands in the page itself, because a page from a disk may read no
 * other file, and it asks the network for nothing.
 */

(() => {
  const [SUMS, SIGNATURE, KEY, TRUSTED] = ["SHA256SUMS", "SHA256SUMS.sig", "public-key.pem", "signing-key.pem"];
  const READ = ["data.csv", "protocol.json", "results.json"];
  const element = (id) => document.getElementById(id);
  const brought = JSON.parse(element("brought").textContent);
  const bytesOf = (text) => new TextEncoder().encode(text);
  const textOf = (bytes) => new TextDecoder("utf-8").decode(bytes);
  const sameBytes = (a, b) => a.length === b.length && a.every((byte, at) => byte === b[at]);

  function add(parent, tag, text = "", attributes = {}) {
    const child = document.createElement(tag);
    child.textContent = text;
    for (const [name, value] of Object.entries(attributes)) child.setAttribute(name, value);
    return parent.appendChild(child);
  }

  /* Numbers for people. */
  const points = (value) => {
    const rounded = (100 * value).toFixed(1);
    return Number(rounded) === 0 ? "0.0" : rounded.replace("-", "−");
  };
  const score = (value) => value.toFixed(2).replace("-", "−");
  const interval = (found, told = points) => (typeof found?.low === "number" ? `${told(found.low)} to ${told(found.high)}` : "none");
  const pInWords = (value) => (typeof value !== "number" ? "" : value < 0.001 ? "p < 0.001" : `p = ${value.toFixed(3)}`);

  /** The share of an answer among the reports of an arm, or of all arms: the wrong analysis, which takes reports for the truth. */
  function reportedAnswers(csv, { column }) {
    const rows = globalThis.candorNumbers.rowsOf(csv).filter((row) => row[column] !== "");
    return (arm, answer) => {
      const given = rows.filter((row) => row.arm === arm || arm === "all arms");
      return given.filter((row) => row[column] === answer).length / given.length;
    };
  }

  const alike = (list, one) => list?.find((other) => ["method", "treatment", "arm", "measure", "category"].every((name) => other[name] === one[name]));

  /** The lines of the table about one question: name, number again, number published, interval, p-value, and the wrong number. */
  function linesOf(again, published, _question, shares, labels) {
    const effects = (again.effects ?? []).filter(({ method }) => method === "efficient");
    const lines = effects.map((one) => ({
      what: `Effect: ${labels[one.treatment]}, against ${labels[one.control]}`,
      again: one.value, published: alike(published.effects, one), p: one.p_value, wrong: shares(one.treatment, "1") - shares(one.control, "1"),
    }));
    for (const one of again.prevalence ?? []) {
      lines.push({ what: `Yes: ${labels[one.arm]}`, again: one.value, published: alike(published.prevalence, one), wrong: shares(one.arm, "1") });
    }
    if (again.cheater_proportion) {
      lines.push({ what: "People who do not follow the die", again: again.cheater_proportion.value, published: published.cheater_proportion });
    }
    return lines;
  }

  /** The same about a question whose answers are named. */
  function linesOfNamed(again, published, question, shares, labels) {
    const words = Object.fromEntries(question.categories.map(({ name, text }) => [name, text]));
    const told = ({ measure, category }) => (measure === "mean_score" ? "mean score" : measure === "at_least" ? `“${words[category]}” or above` : `“${words[category]}”`);
    const line = (what, one, list) => ({ what: `${what}: ${told(one)}`, again: one.value, published: alike(list, one), p: one.adjusted_p_value, isScore: one.measure === "mean_score" });
    return [
      ...(again.effects ?? []).map((one) => ({
        ...line(`Effect: ${labels[one.treatment]}, against ${labels[one.control]}`, one, published.effects),
        ...(one.measure === "category" ? { wrong: shares(one.treatment, one.category) - shares(one.control, one.category) } : {}),
      })),
      ...(again.prevalence ?? []).map((one) => ({
        ...line(labels[one.arm] ?? "Everybody", one, published.prevalence),
        ...(one.measure === "category" ? { wrong: shares(one.arm, one.category) } : {}),
      })),
      ...(again.cheater_proportion
        ? [{ what: "People who do not follow the die", again: again.cheater_proportion.value, published: published.cheater_proportion }] : []),
    ];
  }

  /** JSON in which no object has a name twice: of two, programs take the first or the last, and people may read the other. */
  function parsed(text) {
    const found = JSON.parse(text);
    const names = []; // of each object that has not ended, and nothing of a list
    for (const [mark, string] of text.matchAll(/("(?:[^"\\]|\\.)*")\s*:|"(?:[^"\\]|\\.)*"|[{}[\]]/g)) {
      if (mark === "{" || mark === "[") names.push(new Set());
      else if (mark === "}" || mark === "]") names.pop();
      else if (string) {
        const name = JSON.parse(string);
        if (names.at(-1).has(name)) throw new Error(`the name ${string} stands twice in one object`);
        names.at(-1).add(name);
      }
    }
    return found;
  }

  function showEstimates(texts) {
    const [csv, protocol, results] = [texts["data.csv"], parsed(texts["protocol.json"]), parsed(texts["results.json"])];
    const again = globalThis.candorEstimates.recomputed(csv, protocol, results);
    const { values, different } = globalThis.candorEstimates.compared(again, results);
    const labels = Object.fromEntries(protocol.arms.map(({ name, label }) => [name, label]));
    const asked = [
      ...protocol.questions.map((one) => [one, results.outcomes[one.name] ?? {}, again.outcomes[one.name], linesOf]),
      ...(protocol.category_questions ?? []).map((one) => [one, results.categories?.[one.name] ?? {}, again.categories[one.name], linesOfNamed]),
    ];
    const body = element("estimates");
    body.replaceChildren();
    for (const [question, published, computed, lines] of asked) {
      const found = published.not_estimated ? [] : lines(computed, published, question, reportedAnswers(csv, question), labels);
      add(add(body, "tr"), "th", question.text, { colspan: "6", scope: "rowgroup" });
      if (!found.length) add(add(body, "tr"), "td", published.not_estimated ?? "These estimates are left to replicate.py.", { colspan: "6" });
      for (const line of found) {
        const row = add(body, "tr");
        const told = line.isScore ? score : points;
        add(row, "th", line.what, { scope: "row" });
        const number = line.again === undefined ? "left to replicate.py" : line.again === null ? "none" : told(line.again);
        add(row, "td", number, { "data-name": "Computed here" });
        add(row, "td", typeof line.published?.value === "number" ? told(line.published.value) : "none", { "data-name": "Published" });
        add(row, "td", line.published?.interval ? interval(line.published.interval, told) : "", { "data-name": "Published interval" });
        add(row, "td", pInWords(line.p), { "data-name": "Test of no effect" });
        add(row, "td", "wrong" in line ? points(line.wrong) : "", { "data-name": "Wrong analysis", class: "wrong" });
      }
    }
    element("differences").replaceChildren();
    element("differing").hidden = !different.length;
    for (const { place, published, again: number } of different) {
      add(element("differences"), "li", `${place}: published ${JSON.stringify(published) ?? "nothing"}, computed ${JSON.stringify(number)}`);
    }
    say("numbers", different.length ? "bad" : "good", different.length
      ? `${different.length} of ${values} numbers do not follow from the data.`
      : `All ${values} numbers that a browser can compute are those that were published, to nine decimals.`);
  }

  function say(id, verdict, text) {
    element(id).className = `verdict ${verdict}`;
    element(id).textContent = text;
  }

  /* Files that the reader gives. */

  /** The files of a ZIP file without compression, as Candor makes them. */
  function unzipped(bytes) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let end = bytes.length - 22;
    while (end >= 0 && view.getUint32(end, true) !== 0x06054b50) end -= 1;
    if (end < 0) throw new Error("this is no ZIP file, or its end is missing");
    const files = new Map();
    let at = view.getUint32(end + 16, true);
    for (let number = view.getUint16(end + 10, true); number > 0; number -= 1) {
      if (view.getUint32(at, true) !== 0x02014b50) throw new Error("its list of files cannot be read");
      const [size, length, extra, comment] = [view.getUint32(at + 24, true), ...[28, 30, 32].map((place) => view.getUint16(at + place, true))];
      const name = textOf(bytes.subarray(at + 46, at + 46 + length));
      if (view.getUint16(at + 10, true) !== 0) throw new Error(`${name} was packed, which Candor never does`);
      if (files.has(name)) throw new Error(`${name} stands in it twice`);
      const local = view.getUint32(at + 42, true);
      const start = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
      if (start + size > bytes.length) throw new Error(`${name} ends behind the end of the file`);
      files.set(name, bytes.slice(start, start + size));
      at += 46 + length + extra + comment;
    }
    return files;
  }

  async function filesOf(list) {
    const files = new Map();
    for (const file of list) {
      if ((file.webkitRelativePath || "").split("/").length > 2) continue;
      files.set(file.name, new Uint8Array(await file.arrayBuffer()));
    }
    const archives = [...files.keys()].filter((name) => name.toLowerCase().endsWith(".zip"));
    if (archives.length !== 1 || files.has(SUMS)) return files;
    const inside = unzipped(files.get(archives[0]));
    if (files.has(TRUSTED)) inside.set(TRUSTED, files.get(TRUSTED));
    return inside;
  }

  async function sha256(bytes) {
    const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
    return [...hash].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  }

  /** The lines of SHA256SUMS by name; an Error where a line is not as sha256sum writes it. */
  function sumsIn(bytes) {
    const lines = textOf(bytes).split("\n");
    if (lines.pop() !== "") throw new Error("its last line has no end");
    return new Map(
      lines.map((line, at) => {
        const [, sum, name] = /^([0-9a-f]{64}) {2}(.+)$/.exec(line) ?? [];
        if (!sum) throw new Error(`line ${at + 1} is not a hash and a name`);
        return [name, sum];
      }),
    );
  }

  const fromBase64 = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

  /** Whether the signature is that of one of the keys in `pem`; an Error where this browser cannot tell. */
  async function isGenuine(sums, signature, pem) {
    const text = textOf(signature);
    let raw;
    try {
      raw = fromBase64(text.trimEnd());
    } catch {
      return false;
    }
    if (`${btoa(String.fromCharCode(...raw))}\n` !== text) return false;
    const keys = [...textOf(pem).matchAll(/-----BEGIN PUBLIC KEY-----\s*([A-Za-z0-9+/=\s]+)-----END PUBLIC KEY-----/g)];
    for (const [, base64] of keys) {
      let key;
      try {
        key = await crypto.subtle.importKey("spki", fromBase64(base64.replace(/\s/g, "")), { name: "Ed25519" }, false, ["verify"]);
      } catch (error) {
        if (error.name === "NotSupportedError") throw error;
        continue;
      }
      if (await crypto.subtle.verify({ name: "Ed25519" }, key, raw, sums)) return true;
    }
    return false;
  }

  /** Every file with what is wrong with it; `signature` is "good", "bad" or "unknown". */
  async function checked(files) {
    const faults = new Map();
    const missing = [SUMS, SIGNATURE, KEY].filter((name) => !files.has(name));
    for (const name of missing) faults.set(name, "it is missing");
    let sums = new Map();
    if (files.has(SUMS)) {
      try {
        sums = sumsIn(files.get(SUMS));
      } catch (error) {
        faults.set(SUMS, `it was changed: ${error.message}`);
      }
    }
    for (const [name, sum] of sums) {
      if (!files.has(name)) faults.set(name, "it is missing");
      else if ((await sha256(files.get(name))) !== sum) faults.set(name, "it was changed");
    }
    const signed = [...files.keys()].filter((name) => sums.has(name) || name === SUMS || name === SIGNATURE);
    const unsigned = [...files.keys()].filter((name) => !signed.includes(name) && name !== TRUSTED);
    for (const name of brought.files) {
      if (![SUMS, SIGNATURE].includes(name) && files.has(SUMS) && !sums.has(name) && !faults.has(SUMS)) faults.set(name, "it is not in the sums, so nobody signed it");
    }
    let signature = "bad";
    try {
      if (!missing.length && (await isGenuine(files.get(SUMS), files.get(SIGNATURE), files.get(TRUSTED) ?? files.get(KEY)))) signature = "good";
      else if (!missing.length && !faults.size) faults.set(SIGNATURE, "the signature does not belong to these files");
    } catch {
      signature = "unknown";
    }
    return { faults, signed, unsigned, signature, trusted: files.has(TRUSTED) };
  }

  function showCheck({ faults, signed, unsigned, signature, trusted }) {
    const wrong = faults.size || signature === "bad";
    const list = [...faults].map(([name, what]) => `${name}: ${what}`).join("; ");
    const hashes = `${signed.length} files have the hashes in ${SUMS}`;
    if (wrong) say("files", "bad", `These are not the files that were signed. ${list || `${SUMS}: the signature does not belong to it`}.`);
    else if (signature === "unknown") say("files", "unknown", `${hashes}. This browser cannot check the signature, because it does not know Ed25519: whether ${SUMS} and ${SIGNATURE} are genuine is open.`);
    else say("files", "good", `${hashes}, and the signature is genuine${trusted ? `, by the key in ${TRUSTED}` : ""}.`);
    const parts = [];
    if (!wrong && !trusted) parts.push(`The key came with the package. Choose the server’s ${TRUSTED} along with the files, and the signature is checked by that.`);
    if (unsigned.length) parts.push(`Nobody signed these: ${unsigned.join(", ")}.`);
    element("files-more").textContent = parts.join(" ");
    for (const row of element("list").rows) {
      const [name, state] = [row.dataset.file, row.cells[row.cells.length - 1]];
      const fine = name === SIGNATURE || name === SUMS ? { good: "as signed", unknown: "not checked", bad: "not as signed" }[signature] : "as signed";
      state.textContent = faults.get(name) ?? (signed.includes(name) ? fine : "not among the files");
      state.className = faults.has(name) || state.textContent !== "as signed" ? "wrong" : "right";
    }
  }

  async function check(list) {
    say("files", "unknown", "The files are being read …");
    try {
      if (!globalThis.crypto?.subtle) throw new Error("this browser gives pages from a disk no means to compute a hash");
      const files = await filesOf(list);
      const found = await checked(files);
      showCheck(found);
      if (READ.every((name) => files.has(name))) {
        const texts = Object.fromEntries(READ.map((name) => [name, textOf(files.get(name))]));
        const other = READ.filter((name) => !sameBytes(bytesOf(brought.texts[name]), files.get(name)));
        element("source").textContent = other.length
          ? `The numbers are computed from the files that you chose. The copies in this page differ from them: ${other.join(", ")}.`
          : "The numbers are computed from the files that you chose. The copies in this page are the same, byte for byte.";
        estimated(texts);
      }
    } catch (error) {
      say("files", "bad", `The files could not be checked: ${error.message}.`);
    }
  }

  function estimated(texts) {
    try {
      showEstimates(texts);
    } catch (error) {
      say("numbers", "bad", `The numbers could not be computed again: a file is not as it should be (${error.message}).`);
    }
  }

  for (const input of document.querySelectorAll("input[type=file]")) input.addEventListener("change", () => check([...input.files]));
  const zone = element("zone");
  zone.addEventListener("dragover", (event) => event.preventDefault());
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    check([...event.dataTransfer.files]);
  });
  element("choose").hidden = false;
  say("files", "unknown", "No file has been checked yet.");
  estimated(brought.texts);
})();
