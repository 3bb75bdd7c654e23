// Written by hand. What `fairlane/log` exports.

/** When a call is acknowledged: when the disk has it, or when the operating system has it. */
export type Acknowledge = 'disk' | 'os'

/** Options of all queues on disk. */
export interface LogOptions {
  /**
   * How many payloads the queue may hold; for a job queue, how many jobs, including dead letters.
   *
   * @default Infinity
   */
  capacity?: number | undefined

  /**
   * How many bytes of payload the queue may hold; for a job queue, of payloads and types.
   *
   * @default Infinity
   */
  capacityBytes?: number | undefined

  /**
   * How many pushes may be written and not yet acknowledged. Further ones are written later; `pushSync` throws.
   *
   * @default 1000
   */
  maxInflightOps?: number | undefined

  /**
   * `'disk'` survives a power failure, `'os'` the end of the process.
   *
   * @default 'disk'
   */
  ack?: Acknowledge | undefined

  /**
   * The size of a file, from 1024 to 1073741824 bytes. Disk space comes back file by file.
   *
   * @default 67108864
   */
  segmentBytes?: number | undefined

  /**
   * Whether to keep the undamaged parts of a damaged log instead of refusing to open it.
   *
   * @default false
   */
  repair?: boolean | undefined

  /** Called while the log is read, after each file. */
  onProgress?: ((progress: { bytes: number, totalBytes: number }) => void) | undefined
}

export interface PersistentQueueOptions extends LogOptions {}

/** A part of a file that was given up. */
export interface Lost {
  /** The name of the file in the folder. */
  file: string
  offset: number
  bytes: number
}

/** What opening a queue found. */
export interface Recovered {
  /** How many payloads. */
  jobs: number
  /** What a crash had left half written, behind all that was synced. */
  cut: Lost | undefined
  /** What was damaged; only with `repair`. */
  dropped: Array<Lost & { what: string }>
}

export interface Reserved {
  id: number
  payload: Buffer
}

/** A first-in-first-out queue of bytes on disk. */
export class PersistentQueue {
  private constructor ()

  /** Opens the queue in a folder, which is made if it is not there. Only one process may have it open. */
  static open (path: string, options?: PersistentQueueOptions): Promise<PersistentQueue>

  /** Removes a queue that nobody has open. */
  static remove (path: string): Promise<void>

  /** Payloads that are not finished: waiting and reserved ones. */
  readonly length: number
  /** The bytes of those. */
  readonly bytes: number
  readonly recovered: Recovered

  /** Bytes of all segments. */
  diskBytes (): number

  /** Puts payloads at the end; several are there after a crash together or not at all. Resolves when they are safe. */
  push (payloads: Uint8Array | readonly Uint8Array[]): Promise<void>
  /** Like `push`, blocking. */
  pushSync (payloads: Uint8Array | readonly Uint8Array[]): void

  /** Takes payloads from the front for good; `[]` if the queue is empty. */
  pop (max?: number): Promise<Buffer[]>
  /** Like `pop`, blocking. */
  popSync (max?: number): Buffer[]
  /** What `pop` would give, without taking it. */
  peek (max?: number): Promise<Buffer[]>

  /** Takes payloads from the front until they are finished by `ack` or put back by `release`. */
  reserve (max?: number): Promise<Reserved[]>
  /** Finishes reserved payloads; after a crash all of them are finished or none. */
  ack (ids: number | readonly number[]): Promise<void>
  /** Puts reserved payloads back to where they were. */
  release (ids: number | readonly number[]): void

  /** Resolves when all calls up to now are on the disk. */
  flush (): Promise<void>
  /**
   * Acknowledges what was pushed, and lets another process open the queue. Reserved payloads are back then. Rejects with FAIRLANE_ERR_IO.
   */
  close (): Promise<void>
}
