// What sparkls says beside the language server protocol.

export const STATUS_REQUEST = 'sparkls/status';
export const STATUS_CHANGED = 'sparkls/statusChanged';
export const LINK_RUN = 'sparkls.linkRun';
export const UNLINK_RUN = 'sparkls.unlinkRun';
export const SHOW_UPGRADE = 'sparkls.showUpgrade';

/** A run whose event log is linked to a project. */
export interface LinkedRun {
  /** The id of the application, else the log's name. */
  readonly label: string;
  /** Where its log was read from. */
  readonly source: string;
  /** The name of the application. */
  readonly application: string | null;
}

export interface ProjectStatus {
  readonly root: string;
  readonly sparkVersion: string;
  readonly sparkVersionFrom: string;
  readonly vendor: string;
  readonly local: boolean;
  readonly rules: Readonly<Record<string, string | number>>;
  readonly defaults: string | null;
  readonly sources: number;
  /** Newest first. */
  readonly runs: readonly LinkedRun[];
  readonly exclude: readonly string[];
  readonly problems: readonly string[];
}

export interface DocumentStatus {
  readonly uri: string;
  readonly version: number;
  readonly kind: string;
  readonly analysed: boolean;
  readonly bytes: number;
}

/** The answer to `sparkls/status`. */
export interface ServerStatus {
  readonly version: string;
  readonly ready: boolean;
  readonly encoding: string;
  readonly diagnostics: 'pull' | 'push';
  readonly projects: readonly ProjectStatus[];
  readonly documents: readonly DocumentStatus[];
  readonly lastPanic: string | null;
}
