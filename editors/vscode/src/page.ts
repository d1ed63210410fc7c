// The HTML of a report, made to fit into the editor. Knows nothing of the editor, so that it can be tested alone.

/** The report's own colours follow the system; a page of the editor follows the editor's theme. */
const THEME = `
body { font-family: var(--vscode-font-family); font-size: 14px; }
body.vscode-light, body.vscode-high-contrast-light {
  --bar: #4a7fb5; --bad: #c2410c; --noted: #a16207; --mark: #7c3aed; --costly: #fff1e7;
}
body.vscode-dark, body.vscode-high-contrast {
  --bar: #6ea3d8; --bad: #fb8a4c; --noted: #e0b13c; --mark: #b794f6; --costly: #33231a;
}
a.place { white-space: nowrap; }
`;

/** What every page that is shown here must say of itself. */
const POLICY = `default-src 'none'; style-src 'unsafe-inline'; img-src data:`;

/** The page with the editor's colours, and places in code as links. Refuses a page that allows itself more than that. */
export function page(html: string, root: string): string {
  if (!html.includes(`http-equiv="Content-Security-Policy" content="${POLICY}"`)) {
    throw new Error('This version of sparkls writes a report that the extension does not show.');
  }
  return linked(html.replace('</head>', () => `<style>${THEME}</style></head>`), root);
}

/** What no link is put into: styles, drawings, the title, other links, tags; and the text between those. */
const PARTS = /<(style|svg|title|a)\b[^]*?<\/\1>|<[^>]*>|([^<]+)/g;
const PLACE = /([\w./-]+\.(?:py|ipynb|sql)):(\d+)/g;

/** `orders.py:42` in the text as a link that opens the place. */
function linked(html: string, root: string): string {
  return html.replaceAll(PARTS, (part: string, _: string | undefined, text: string | undefined) => {
    return text === undefined ? part : text.replaceAll(PLACE, (place: string, file: string, line: string) => {
      const query = encodeURIComponent(JSON.stringify([root, file, Number(line)]));
      return `<a class="place" href="command:sparkls.openPlace?${query}">${place}</a>`;
    });
  });
}
