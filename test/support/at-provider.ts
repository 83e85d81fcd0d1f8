/** The browser's part of a sign-in at an OpenID provider, without a browser. */

/** What a browser does at the provider: follows it from the start of the sign-in to the address that it is sent back to. */
export async function atProvider(startUrl: string, login: string | null): Promise<string> {
  const cookies = new Map<string, string>();
  const { origin } = new URL(startUrl);
  let url = startUrl;
  let form: string | undefined;
  for (let steps = 0; steps < 10; steps += 1) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const post = { method: 'POST', body: form ?? '', headers: { cookie, 'content-type': 'application/x-www-form-urlencoded' } };
    const reply = await fetch(url, { redirect: 'manual', ...(form === undefined ? { headers: { cookie } } : post) });
    for (const line of reply.headers.getSetCookie()) {
      const [pair = ''] = line.split(';');
      cookies.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1));
    }
    const location = reply.headers.get('location');
    if (location !== null) {
      url = new URL(location, url).href;
      form = undefined;
      if (new URL(url).origin !== origin) return url;
    } else if (form === undefined && reply.status === 200) {
      form = new URLSearchParams({ login: login ?? '', answer: login === null ? 'no' : 'yes' }).toString();
    } else throw new Error(`the provider answered ${reply.status} at ${url}: ${await reply.text()}`);
  }
  throw new Error('the provider redirects without end');
}
