/** The colour of an identity. */

/** WCAG 2.2, 1.4.3: normal text against its background. */
const CONTRAST_MIN = 4.5;
const SATURATION = 0.7;

/** One of 360 hues by the id's hash, as light as the contrast with white text allows. */
export function colorOf(id: string): string {
  // FNV-1a
  let hash = 0x811c9dc5;
  for (let at = 0; at < id.length; at += 1) hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193);
  const hue = (hash >>> 0) % 360;
  let lightness = 0.5;
  let channels = toRgb(hue, lightness);
  while (1.05 / (luminance(channels) + 0.05) < CONTRAST_MIN) {
    lightness -= 0.01;
    channels = toRgb(hue, lightness);
  }
  return `#${channels.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;
}

type Rgb = readonly [red: number, green: number, blue: number];

/** CSS Color 4, hsl() to sRGB; channels 0 to 255. */
function toRgb(hue: number, lightness: number): Rgb {
  const channel = (offset: number) => {
    const k = (offset + hue / 30) % 12;
    const range = SATURATION * Math.min(lightness, 1 - lightness);
    return Math.round(255 * (lightness - range * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };
  return [channel(0), channel(8), channel(4)];
}

/** WCAG 2.2, relative luminance. */
function luminance([red, green, blue]: Rgb): number {
  const linear = (channel: number) => (channel <= 10.31 ? channel / 255 / 12.92 : ((channel / 255 + 0.055) / 1.055) ** 2.4);
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}
