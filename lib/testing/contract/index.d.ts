// Written by hand. What `fairlane/testing/contract` exports.

/** Declares the tests of what all engines share. To be called where tests may be declared. */
declare function contract (engine: contract.EngineOptions): void

declare namespace contract {
  /** The names of fairlane's own engines. */
  export type EngineName = 'memory' | 'disk' | 'broker'

  /** What an engine has given for one queue of a test. */
  export interface MadeQueue {
    /** What `fairlane()`, `durable()` or `distributed()` give, or a queue of the same members. */
    queue: any
    /** Closes it for good, after the test. Default: `queue.close({ timeoutMs: 0 })`. */
    close? (): unknown
    /** Closes the queue, and opens it again at its place. Needed for `survival`. */
    reopen? (runner: Function | null, options?: object): Promise<MadeQueue>
    /** Opens it once more, as another process would. Needed for `processes`. */
    another? (runner: Function | null, options?: object): Promise<MadeQueue>
    /** Closes the queue, has another process open it and start a job of it, and kills that process. Needed for `survival`. */
    crash? (): Promise<void>
  }

  export interface EngineOptions {
    describe (title: string, define: () => void): unknown
    it (title: string, run: () => Promise<void>): unknown
    /** Opens a queue at a place of its own, which is empty. Rejects with what the engine refuses. */
    make (runner: Function | null, options?: object): Promise<MadeQueue>
    /** What the engine has, by the names of `CAPABILITIES`. What it has not, it must refuse. */
    capabilities: Iterable<string>
    /** The exports of the engine's module, which must have those of fairlane that are for all engines. */
    entry?: object | undefined
  }

  /** What not all engines have. */
  export interface Capability {
    /** In Markdown. */
    readonly what: string
    readonly engines: readonly EngineName[]
    /** What others do, or what to use there. */
    readonly elsewhere: string
    readonly why: string
    /** Members of the queue, refused elsewhere with FAIRLANE_ERR_UNSUPPORTED. */
    readonly members?: readonly string[]
    /** Options with values that are right, refused elsewhere with FAIRLANE_ERR_OPTION. */
    readonly options?: { readonly [option: string]: any }
  }

  /** The same function. */
  export { contract }
  export const CAPABILITIES: { readonly [name: string]: Capability }
  export const ENGINES: readonly EngineName[]
  /** @throws RangeError if there is no engine of that name */
  export function capabilitiesOf (engine: EngineName): string[]
}

export = contract
