// The server as this window runs it: found, started, stopped, restarted, asked.

import * as readline from 'node:readline';

import { EventEmitter, workspace, type Disposable, type ExtensionContext } from 'vscode';
import {
  CloseAction, ErrorAction, LanguageClient, RevealOutputChannelOn, State,
  type CloseHandlerResult, type ErrorHandler, type Middleware, type StaticFeature,
} from 'vscode-languageclient/node';

import { describe, find, why, type Attempt, type Binary } from './binary';
import type { Logs } from './logs';
import { STATUS_CHANGED, STATUS_REQUEST, type ServerStatus } from './protocol';
import { SELECTOR } from './selector';
import { binaryPath, chosen } from './settings';

/** A server that ends more often than this within `CRASH_WINDOW_MS` is not started again unasked. */
const MAX_RESTARTS = 3;
const CRASH_WINDOW_MS = 180_000;

/** What the server is doing. */
export type Health = 'stopped' | 'starting' | 'running' | 'failed';

export class Server implements Disposable {
  private readonly changes = new EventEmitter<void>();
  private readonly crashes = new EventEmitter<void>();
  private readonly misses = new EventEmitter<readonly Attempt[]>();
  private client: LanguageClient | undefined;
  private readonly ends: number[] = [];
  private work: Promise<void> = Promise.resolve();
  private restartWaits = false;

  health: Health = 'stopped';
  binary: Binary | undefined;

  /** The health or the answer to `status` is another. */
  readonly onDidChange = this.changes.event;
  /** The server keeps ending and is not started again. */
  readonly onDidCrash = this.crashes.event;
  /** No binary was found. */
  readonly onDidMiss = this.misses.event;

  constructor(
    private readonly context: ExtensionContext,
    private readonly logs: Logs,
    private readonly middleware: Middleware,
  ) {}

  start(): Promise<void> {
    return this.then(() => this.doStart());
  }

  stop(): Promise<void> {
    return this.then(() => this.doStop());
  }

  /** Stops and starts; asked again while a restart waits for its turn, it is the same one. */
  async restart(): Promise<void> {
    if (this.restartWaits) {
      return this.work;
    }
    this.restartWaits = true;
    return this.then(async () => {
      this.restartWaits = false;
      await this.doStop();
      await this.doStart();
    });
  }

  /** What the server knows of itself; `undefined` while there is none. */
  async status(): Promise<ServerStatus | undefined> {
    const client = this.client;
    if (client === undefined || this.health !== 'running') {
      return undefined;
    }
    try {
      return await client.sendRequest<ServerStatus>(STATUS_REQUEST);
    } catch (error) {
      this.logs.client.warn(`the server does not tell its status: ${String(error)}`);
      return undefined;
    }
  }

  /** Runs one of the server's commands; the error is a sentence for the user. */
  async execute<T>(command: string, ...args: unknown[]): Promise<T> {
    if (this.client === undefined || this.health !== 'running') {
      throw new Error('The sparkls server is not running.');
    }
    return this.client.sendRequest<T>('workspace/executeCommand', { command, arguments: args });
  }

  dispose(): void {
    this.changes.dispose();
    this.crashes.dispose();
    this.misses.dispose();
  }

  /** One start or stop after the other, in the order that they were asked for. */
  private then(step: () => Promise<void>): Promise<void> {
    this.work = this.work.then(step).catch((error: unknown) => this.logs.client.error(String(error)));
    return this.work;
  }

  private async doStart(): Promise<void> {
    if (this.client !== undefined) {
      return;
    }
    this.become('starting');
    const binary = await this.find();
    if (binary === undefined) {
      this.become('failed');
      return;
    }
    const client = this.connect(binary);
    this.client = client;
    try {
      await client.start();
    } catch (error) {
      this.logs.client.error(`the server does not start: ${String(error)}`);
      this.client = undefined;
      this.become('failed');
      this.crashes.fire();
    }
  }

  private async doStop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    if (client !== undefined) {
      await client.dispose().catch((error: unknown) => this.logs.client.warn(`stopping: ${String(error)}`));
    }
    this.become('stopped');
  }

  private async find(): Promise<Binary | undefined> {
    const search = await find({
      trusted: workspace.isTrusted,
      setting: binaryPath(),
      extension: this.context.extensionPath,
      folder: workspace.workspaceFolders?.[0]?.uri.fsPath,
      searchPath: process.env['PATH'] ?? '',
      windows: process.platform === 'win32',
    });
    if ('attempts' in search) {
      this.binary = undefined;
      this.logs.client.error(['no sparkls binary was found', ...describe(search.attempts)].join('\n  '));
      this.misses.fire(search.attempts);
      return undefined;
    }
    this.binary = search.found;
    this.logs.client.info(`starting ${search.found.path} (${why(search.found.origin)}), version ${search.found.version}`);
    return search.found;
  }

  private connect(binary: Binary): LanguageClient {
    let served = false;
    const client: LanguageClient = new QuietClient(
      'sparkls',
      'sparkls',
      { command: binary.path, args: ['server'] },
      {
        documentSelector: SELECTOR,
        initializationOptions: () => chosen(this.context),
        outputChannel: this.logs.server,
        traceOutputChannel: this.logs.trace,
        revealOutputChannelOn: RevealOutputChannelOn.Never,
        errorHandler: this.errorHandler(() => served && client === this.client),
        initializationFailedHandler: () => false,
        middleware: this.middleware,
        diagnosticPullOptions: { onChange: true, onSave: true, onTabs: false },
        stdioOptions: {
          stdout: () => undefined,
          stderr: (input) => void readline.createInterface({ input }).on('line', this.logs.add),
        },
      },
    );
    client.registerFeature(SHOWS_STATUS);
    client.onNotification(STATUS_CHANGED, () => this.changes.fire());
    client.onDidChangeState(({ newState }) => {
      served ||= newState === State.Running;
      if (client === this.client) {
        this.become(HEALTH[newState]);
      }
    });
    return client;
  }

  /** A server that ends before it ever served would do so again, and is not started again. */
  private errorHandler(hasServed: () => boolean): ErrorHandler {
    return {
      error: (error) => {
        this.logs.client.error(`the connection to the server fails: ${error.message}`);
        return { action: ErrorAction.Continue, handled: true };
      },
      closed: (): CloseHandlerResult => {
        if (hasServed()) {
          this.client = undefined;
          this.startAgain();
        }
        return { action: CloseAction.DoNotRestart, handled: true };
      },
    };
  }

  private startAgain(): void {
    const now = Date.now();
    this.ends.push(now);
    this.ends.splice(0, this.ends.findIndex((end) => now - end < CRASH_WINDOW_MS));
    if (this.ends.length <= MAX_RESTARTS) {
      this.logs.client.warn('the server ended without being asked to and is started again');
      void this.start();
      return;
    }
    this.logs.client.error(`the server ended ${this.ends.length} times within three minutes and is left stopped`);
    this.ends.length = 0;
    this.become('failed');
    this.crashes.fire();
  }

  private become(health: Health): void {
    this.health = health;
    this.changes.fire();
  }
}

/** What goes wrong is logged here and said once, by `onDidCrash`, instead of in a message for each of its signs. */
class QuietClient extends LanguageClient {
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }
}

const HEALTH: Record<State, Health> = {
  [State.Stopped]: 'stopped',
  [State.Starting]: 'starting',
  [State.StartFailed]: 'failed',
  [State.Running]: 'running',
};

/** Says to the server that this client shows its status, and wants to hear when it changes. */
const SHOWS_STATUS: StaticFeature = {
  fillClientCapabilities: (capabilities) => {
    capabilities.experimental = { ...(capabilities.experimental as object | undefined), sparklsStatus: true };
  },
  initialize: () => undefined,
  getState: () => ({ kind: 'static' }),
  clear: () => undefined,
};

