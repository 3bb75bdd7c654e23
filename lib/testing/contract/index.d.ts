// Written by hand. What `fairlane/testing/contract` exports.

/** Declares the tests that every engine must pass. Call it where tests may be declared. */
declare function contract (engine: contract.EngineOptions): void

declare namespace contract {
  /** The names of fairlane's own engines. */
  export type EngineName = 'memory' | 'disk' | 'broker'

  /** A queue that an engine made for a test. */
  export interface MadeQueue {
    /** A queue of `fairlane()`, `durable()` or `distributed()`, or one with the same members. */
    queue: any
    /** Closes it for good, after the test. Default: `queue.close({ timeoutMs: 0 })`. */
    close? (): unknown
    /** Closes the queue and reopens it in the same place. Needed for `survival`. */
    reopen? (runner: Function | null, options?: object): Promise<MadeQueue>
    /** Opens the queue a second time, as another process would. Needed for `processes`. */
    another? (runner: Function | null, options?: object): Promise<MadeQueue>
    /** Closes the queue, lets another process open it and start a job, and kills that process. Needed for `survival`. */
    crash? (): Promise<void>
  }

  export interface EngineOptions {
    describe (title: string, define: () => void): unknown
    it (title: string, run: () => Promise<void>): unknown
    /** Opens a queue in an empty place of its own. Rejects with the engine's error. */
    make (runner: Function | null, options?: object): Promise<MadeQueue>
    /** Names from `CAPABILITIES` that the engine has. It must refuse all others. */
    capabilities: Iterable<string>
    /** The exports of the engine's module, which must include those that fairlane has for all engines. */
    entry?: object | undefined
  }

  /** Something that not all engines have. */
  export interface Capability {
    /** In Markdown. */
    readonly what: string
    readonly engines: readonly EngineName[]
    /** What other engines do, or what to use there. */
    readonly elsewhere: string
    readonly why: string
    /** Members of the queue; elsewhere they throw FAIRLANE_ERR_UNSUPPORTED. */
    readonly members?: readonly string[]
    /** Options with valid values; elsewhere they are refused with FAIRLANE_ERR_OPTION. */
    readonly options?: { readonly [option: string]: any }
  }

  /** The same function. */
  export { contract }
  export const CAPABILITIES: { readonly [name: string]: Capability }
  export const ENGINES: readonly EngineName[]
  /** @throws RangeError if there is no engine of this name */
  export function capabilitiesOf (engine: EngineName): string[]
}

export = contract
