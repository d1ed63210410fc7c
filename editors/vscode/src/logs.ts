// Two logs: what the extension does, and what the server says.

import { EventEmitter, LogLevel, window, workspace, type Disposable, type Event, type LogOutputChannel } from 'vscode';

import { SECTION, isTracing } from './settings';

/** Lines of the server that a report for an issue quotes. */
const KEPT_LINES = 40;

export class Logs implements Disposable {
  readonly client = window.createOutputChannel('sparkls', { log: true });
  readonly server = window.createOutputChannel('sparkls server', { log: true });
  readonly trace = new TraceChannel(this.client);
  private readonly kept: string[] = [];

  /** Notes a line of the server's standard error; it brings its own time and level. */
  readonly add = (line: string): void => {
    this.server.appendLine(line);
    this.kept.push(line);
    this.kept.splice(0, this.kept.length - KEPT_LINES);
  };

  /** The server's last lines. */
  lastLines(): readonly string[] {
    return this.kept;
  }

  dispose(): void {
    this.trace.dispose();
    this.server.dispose();
    this.client.dispose();
  }
}

/**
 * Where the client library writes messages of the protocol. It does so only where the channel's own level is `Trace`,
 * which no setting can reach; here the setting `sparkls.trace.server` is the level.
 */
class TraceChannel implements LogOutputChannel {
  private readonly levels = new EventEmitter<LogLevel>();
  private readonly listener = workspace.onDidChangeConfiguration((event) => {
    if (event.affectsConfiguration(`${SECTION}.trace`)) {
      this.levels.fire(this.logLevel);
    }
  });

  readonly onDidChangeLogLevel: Event<LogLevel> = this.levels.event;

  constructor(private readonly channel: LogOutputChannel) {}

  get name(): string {
    return this.channel.name;
  }

  get logLevel(): LogLevel {
    return isTracing() ? LogLevel.Trace : LogLevel.Info;
  }

  trace(message: string): void {
    this.channel.info(message);
  }

  debug(message: string): void {
    this.channel.debug(message);
  }

  info(message: string): void {
    this.channel.info(message);
  }

  warn(message: string): void {
    this.channel.warn(message);
  }

  error(error: string | Error): void {
    this.channel.error(error);
  }

  append(value: string): void {
    this.channel.append(value);
  }

  appendLine(value: string): void {
    this.channel.appendLine(value);
  }

  replace(value: string): void {
    this.channel.replace(value);
  }

  clear(): void {
    this.channel.clear();
  }

  show(): void {
    this.channel.show(true);
  }

  hide(): void {
    this.channel.hide();
  }

  dispose(): void {
    this.listener.dispose();
    this.levels.dispose();
  }
}
