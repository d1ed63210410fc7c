// Which documents the server hears of. Settings of Spark stand in many kinds of file; what holds none costs it nothing.

type Filter = { readonly scheme: string; readonly language: string } | { readonly scheme: string; readonly pattern: string };

const SCHEMES = ['file', 'untitled', 'vscode-notebook-cell'];

const LANGUAGES = [
  'python', 'sql', 'spark-conf', 'properties', 'java-properties', 'ini', 'shellscript', 'makefile', 'dockerfile',
  'dockercompose', 'yaml', 'helm', 'json', 'jsonc', 'terraform', 'terraform-vars', 'hcl', 'hocon',
];

/** Files that have no language of their own without another extension, and the server's own settings. */
const NAMES = '**/{sparkls.toml,pyproject.toml,*.tf,*.tfvars,*.hcl,*.hocon,*.conf,*.properties,*requirements*.txt}';

export const SELECTOR: Filter[] = [
  ...SCHEMES.flatMap((scheme) => LANGUAGES.map((language) => ({ scheme, language }))),
  { scheme: 'file', pattern: NAMES },
];
