/** Lists from spreadsheets as rows of cells, and back: comma, semicolon or tab; UTF-8, UTF-16 or Windows-1252. Pure. */

const DELIMITERS = [",", ";", "\t"];

/** The text of a file's bytes. */
export function textOf(bytes) {
  const view = new Uint8Array(bytes);
  const mark = view[0] === 0xff && view[1] === 0xfe ? "utf-16le" : view[0] === 0xfe && view[1] === 0xff ? "utf-16be" : "";
  if (mark) return new TextDecoder(mark).decode(view);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(view);
  } catch {
    return new TextDecoder("windows-1252").decode(view);
  }
}

/** The delimiter that cuts the first line into most cells. */
export function delimiterOf(text) {
  const first = text.split(/\r?\n/, 1)[0];
  return DELIMITERS.reduce((best, one) => (first.split(one).length > first.split(best).length ? one : best));
}

/** The rows of a table that are not blank, as lists of trimmed cells. */
export function rowsOf(text, delimiter = delimiterOf(text)) {
  const rows = [];
  let row = [], cell = "", quoted = false;
  const source = text.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n");
  const endCell = () => {
    row.push(cell.trim());
    cell = "";
  };
  const endRow = () => {
    endCell();
    if (row.some(Boolean)) rows.push(row);
    row = [];
  };
  for (let place = 0; place < source.length; place++) {
    const sign = source[place];
    if (quoted) {
      if (sign !== '"') cell += sign;
      else if (source[place + 1] === '"') cell += source[place++];
      else quoted = false;
    } else if (sign === '"' && !cell.trim()) quoted = true;
    else if (sign === delimiter) endCell();
    else if (sign === "\n") endRow();
    else cell += sign;
  }
  endRow();
  return rows;
}

/** Rows as a file that spreadsheets open. */
export function written(rows, delimiter = ",") {
  const cell = (value) => (/["\r\n]/.test(value) || value.includes(delimiter) ? `"${value.replaceAll('"', '""')}"` : value);
  return `\ufeff${rows.map((row) => row.map(cell).join(delimiter)).join("\r\n")}\r\n`;
}

const ADDRESS = /^[^\s@<>",;]+@[^\s@<>",;]+\.[^\s@<>",;]+$/;

/**
 * The people of a list: headings, rows with one address each, and how many rows were left out because they have none, or one that came
 * before. Columns are found by their cells and headings; a list without headings gets some.
 */
export function peopleOf(rows) {
  const width = Math.max(0, ...rows.map((row) => row.length));
  const padded = rows.map((row) => [...row, ...Array(width - row.length).fill("")]);
  const counts = Array.from({ length: width }, (_none, column) => padded.filter((row) => ADDRESS.test(row[column])).length);
  const address = counts.indexOf(Math.max(...counts, 1));
  if (address < 0) return null;
  const headed = padded.length > 0 && !padded[0].some((cell) => ADDRESS.test(cell));
  const headings = headed ? padded[0] : padded[0].map((_cell, column) => (column === address ? "address" : column ? `column ${column + 1}` : "name"));
  const found = (word) => headings.findIndex((heading) => heading.toLowerCase() === word);
  const named = headings.findIndex((heading) => /name/i.test(heading));
  const seen = new Set();
  const people = (headed ? padded.slice(1) : padded).filter((row) => {
    const known = row[address].toLowerCase();
    if (!ADDRESS.test(row[address]) || seen.has(known)) return false;
    return seen.add(known);
  });
  const left = padded.length - (headed ? 1 : 0) - people.length;
  return { headings, people, left, address, name: named >= 0 ? named : headings.findIndex((_one, column) => column !== address), link: found("link") };
}
