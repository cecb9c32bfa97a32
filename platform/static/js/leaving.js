/**
 * Nothing keeps what somebody types until the builder's script has come: so long the browser asks before the page is left. It stands in
 * the head of the page and is no module, so that it is there before anybody can type.
 */

{
  let typed = false;
  const ask = (event) => typed && event.preventDefault();
  addEventListener("input", ({ target }) => {
    typed ||= target.closest("form[data-keep]") !== null;
  });
  addEventListener("submit", () => {
    typed = false;
  });
  addEventListener("beforeunload", ask);
  addEventListener("kept", () => removeEventListener("beforeunload", ask));
}
