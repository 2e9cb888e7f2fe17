package dev.bourse.store.sqlite;

/**
 * The limits of an embedded store.
 *
 * @param queuedStatements statements that may wait for the writer, 1 to 1,000,000; at some 80,000
 *     small statements a second, the default is under a second of work
 * @param queuedReads queries that may wait for a reader, 1 to 1,000,000
 * @param readers connections that answer queries, each with its own thread, 1 to 64
 * @param maxFileBytes the maximum size of the database file, at least 1 MiB; a commit beyond it
 *     fails with {@link StoreUnavailableException}, as on a full disk. Counted in pages of 4 KiB,
 *     of which the engine can address 2^32 - 2.
 * @param acceptedDamage the name of a damage of the log that the operator accepts, which discards
 *     the commits after it; the refusal states the name. Empty for none.
 */
public record SqliteConfig(
    int queuedStatements, int queuedReads, int readers, long maxFileBytes, String acceptedDamage) {
  /** The engine's page, which it allocates and writes as a whole. */
  static final int PAGE_BYTES = 4096;

  private static final long MAX_PAGES = 4_294_967_294L;

  public SqliteConfig {
    check("queuedStatements", queuedStatements, 1, 1_000_000);
    check("queuedReads", queuedReads, 1, 1_000_000);
    check("readers", readers, 1, 64);
    check("maxFileBytes", maxFileBytes, 1 << 20, MAX_PAGES * PAGE_BYTES);
  }

  public SqliteConfig(int queuedStatements, int queuedReads, int readers, long maxFileBytes) {
    this(queuedStatements, queuedReads, readers, maxFileBytes, "");
  }

  /** Returns the same limits with an accepted damage. */
  public SqliteConfig accepting(String damage) {
    return new SqliteConfig(queuedStatements, queuedReads, readers, maxFileBytes, damage);
  }

  /** Returns limits for one server: 65,536 statements, 4,096 reads, 2 readers, a file of 16 TiB. */
  public static SqliteConfig defaults() {
    return new SqliteConfig(65_536, 4_096, 2, MAX_PAGES * PAGE_BYTES);
  }

  private static void check(String name, long value, long least, long most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          name + ": " + value + " is not within " + least + " to " + most);
    }
  }
}
