package dev.bourse.store.transfer;

import dev.bourse.store.Migration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A store as operators handle it: its version, and all rows of all its tables at once. For commands
 * only: every method blocks, and one thread at a time may call them. Features use {@link Database}.
 *
 * <p>Besides what is said below, every method fails with {@link StoreUnavailable} when the engine
 * cannot do it now, such as a full disk or a server that is away, and with {@link StoreRefused}
 * when it never can.
 */
public interface WholeStore extends AutoCloseable {
  /** What a store is opened for. */
  enum Purpose {
    /** To look at its version; nothing is created, and whoever uses the store goes on. */
    LOOK,
    /**
     * To read all of it as it is at one moment; it must be there. An embedded store must not be in
     * use.
     */
    READ,
    /** To migrate it; an embedded one is created when it is not there, and must not be in use. */
    MIGRATE,
    /** To fill it: as {@link #MIGRATE}, and no process may be using a server's store either. */
    FILL
  }

  /** Takes the values of a row, by column; the list is the taker's to keep. */
  @FunctionalInterface
  interface RowSink<E extends Exception> {
    void row(List<@Nullable Object> values) throws E;
  }

  /** The engine's name, such as {@code sqlite}. */
  String engine();

  /** Where the store is, without a password. */
  String place();

  /** The version this program's schema has. */
  int programVersion();

  /** The migrations the store lacks, in order. Changes nothing. */
  List<Migration> pending();

  /** Brings the store to this program's version; the migrations carried out. */
  List<Migration> migrate();

  /** All tables of rows, each after those it refers to. */
  List<StoredTable> tables();

  /** How many rows a table has. */
  long count(StoredTable table);

  /**
   * Reads a table's rows in the order of its key, in bounded memory: String, Long, byte[] or null.
   * In a store opened to {@link Purpose#READ}, all reads see it at the same moment.
   *
   * @throws E what the sink throws
   */
  <E extends Exception> void read(StoredTable table, RowSink<E> sink) throws E;

  /**
   * What reading all that the engine keeps shows; only of a store opened to {@link Purpose#READ}.
   *
   * @param seen what was read and is sound, and what was not looked at, in a sentence each
   * @param faults what is not sound, in a sentence each
   */
  record Examination(List<String> seen, List<String> faults) {}

  /** Reads everything, not only what rows need; that takes a while. */
  Examination examine();

  /** Begins a transaction that holds everything inserted up to {@link #commit}. */
  void begin();

  /**
   * Inserts rows. An engine may do it later, and then a later call fails for them.
   *
   * @param firstRow the first one's place in the table, from 1, for messages
   */
  void insert(StoredTable table, long firstRow, List<List<@Nullable Object>> rows);

  /**
   * Stores all that was inserted, or nothing. Ids the engine assigns from now on are larger than
   * those inserted.
   */
  void commit();

  /** Undoes what is not committed. */
  @Override
  void close();
}
