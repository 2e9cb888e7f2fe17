package dev.bourse.store.transfer;

import dev.bourse.store.Migration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A store as operators handle it: its version, and all rows of all tables. For commands only: every
 * method blocks, and one thread at a time may call them. Features use {@link Database}.
 *
 * <p>In addition to the exceptions below, every method fails with {@link StoreUnavailableException}
 * if the engine cannot serve now, for example because of a full disk or an unreachable server, and
 * with {@link StoreRefusedException} if a retry cannot help.
 */
public interface WholeStore extends AutoCloseable {
  /** The purpose of opening a store. */
  enum Purpose {
    /** Reads only the version. Creates nothing; processes that use the store continue. */
    LOOK,
    /**
     * Reads all rows as of one moment. The store must exist, and an embedded store must not be in
     * use.
     */
    READ,
    /**
     * Migrates the schema. An embedded store is created if it is missing, and must not be in use.
     */
    MIGRATE,
    /**
     * Fills the store with rows. Like {@link #MIGRATE}, and a server's store must not be in use
     * either.
     */
    FILL
  }

  /** Takes the values of a row, by column; the taker owns the list. */
  @FunctionalInterface
  interface RowSink<E extends Exception> {
    void row(List<@Nullable Object> values) throws E;
  }

  /** Returns the engine's name, for example {@code sqlite}. */
  String engine();

  /** Returns the store's location, without a password. */
  String place();

  /** Returns the schema version of this program. */
  int programVersion();

  /** Returns the migrations the store lacks, in order. Changes nothing. */
  List<Migration> pending();

  /** Brings the store to this program's version and returns the applied migrations. */
  List<Migration> migrate();

  /** Returns all tables, each after those it refers to. */
  List<StoredTable> tables();

  /** Returns how many rows a table has. */
  long count(StoredTable table);

  /**
   * Reads a table's rows in the order of its key, in bounded memory: String, Long, byte[] or null.
   * In a store opened to {@link Purpose#READ}, all reads see the same moment.
   *
   * @throws E the sink's exception
   */
  <E extends Exception> void read(StoredTable table, RowSink<E> sink) throws E;

  /**
   * The result of a full check; only for a store opened to {@link Purpose#READ}.
   *
   * @param seen sound parts, and parts that were not checked, in a sentence each
   * @param faults unsound parts, in a sentence each
   */
  record StoreExamination(List<String> seen, List<String> faults) {}

  /** Reads everything, including data that rows do not need, which takes a while. */
  StoreExamination examine();

  /** Starts a transaction that contains all inserts up to {@link #commit}. */
  void begin();

  /**
   * Inserts rows. An engine may defer the insert; a later call then fails for them.
   *
   * @param firstRow the position of the first row in the table, from 1, for messages
   */
  void insert(StoredTable table, long firstRow, List<List<@Nullable Object>> rows);

  /**
   * Stores all inserted rows, or none. Ids that the engine assigns from now on are larger than
   * inserted ones.
   */
  void commit();

  /** Rolls back uncommitted inserts and closes. */
  @Override
  void close();
}
