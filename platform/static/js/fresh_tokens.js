/** A login in another tab gives new tokens: forms of this page take theirs from a page of now. */

const TOKENS = "[name=csrfmiddlewaretoken]";

/** The page at an address as somebody who is logged in sees it; null for somebody who is not, or who must not see it. */
async function pageAt(address, { isLogin = false } = {}) {
  try {
    const response = await fetch(address);
    // A page leads those who must log in elsewhere, and the login leads everybody else elsewhere.
    if (!response.ok || response.redirected !== isLogin) return null;
    return new DOMParser().parseFromString(await response.text(), "text/html");
  } catch {
    return null;
  }
}

/** Whether somebody is logged in; then every form can be sent. */
export async function takeFreshTokens(address, options) {
  const fresh = (await pageAt(address, options))?.querySelector(TOKENS);
  if (!fresh) return false;
  for (const input of document.querySelectorAll(TOKENS)) input.value = fresh.value;
  return true;
}
