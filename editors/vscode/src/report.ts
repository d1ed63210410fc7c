// The report of a run as a page of the editor.

import { ViewColumn, window } from 'vscode';

import { page } from './page';

/** Shows the page that `sparkls report --format html` wrote. It runs no script, loads nothing, and links into `root`. */
export function showReport(title: string, html: string, root: string): void {
  const panel = window.createWebviewPanel('sparkls.report', title, ViewColumn.Active, {
    enableScripts: false,
    enableCommandUris: ['sparkls.openPlace'],
    enableFindWidget: true,
    localResourceRoots: [],
  });
  panel.webview.html = page(html, root);
}
