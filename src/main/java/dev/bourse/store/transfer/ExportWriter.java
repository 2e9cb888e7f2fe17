package dev.bourse.store.transfer;

import dev.bourse.core.Times;
import dev.bourse.store.Migration;
import dev.bourse.store.StoreRefusedException;
import dev.bourse.store.transfer.StoredTable.Column;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Writes all rows of a store as lines of JSON, from which a store of any engine can be filled.
 *
 * <p>The first line is a header. Each table has a line with its columns, a line for each row with
 * its number and CRC-32, and a line with its {@link TableSum}. The last line has the totals; a file
 * without it is incomplete.
 */
public final class ExportWriter {
  /** Raised with each change that older readers cannot read. */
  static final int FORMAT = 1;

  /** Far larger than any row; a reader holds one line at a time in memory. */
  static final int MAX_LINE_BYTES = 64 << 20;

  private final OutputStream out;

  private ExportWriter(OutputStream out) {
    this.out = out;
  }

  /**
   * Writes a store that was opened to read; does not close the stream.
   *
   * @param out a buffered stream
   * @return the sums of the tables, in the order of the file
   * @throws StoreRefusedException if the store is not at this program's version
   */
  public static List<TableSum> write(
      WholeStore store, OutputStream out, Clock clock, RowProgress progress) throws IOException {
    List<Migration> pending = store.pending();
    if (!pending.isEmpty()) {
      throw StoreRefusedException.of(
          "the store %s lacks %s migration(s); run bourse migrate first",
          store.place(), pending.size());
    }
    ExportWriter writer = new ExportWriter(out);
    List<StoredTable> tables = store.tables();
    writer.line(
        new JsonObject()
            .put("bourse_export", FORMAT)
            .put("schema", store.programVersion())
            .put("engine", store.engine())
            .put("created_at", Times.rfc3339(clock.millis()))
            .put("tables", new JsonArray(tables.stream().map(StoredTable::name).toList())));
    List<TableSum> sums = new ArrayList<>();
    for (StoredTable table : tables) {
      sums.add(writer.table(store, table, progress));
    }
    writer.line(
        new JsonObject()
            .put("end_of_export", true)
            .put("tables", sums.size())
            .put("rows", sums.stream().mapToLong(TableSum::rows).sum()));
    out.flush();
    return sums;
  }

  private TableSum table(WholeStore store, StoredTable table, RowProgress progress)
      throws IOException {
    long total = store.count(table);
    line(
        new JsonObject()
            .put("table", table.name())
            .put("rows", total)
            .put("columns", columns(table)));
    TableSum.Taker taker = new TableSum.Taker();
    store.read(
        table,
        values -> {
          byte[] canonical = TableSum.canonical(values);
          taker.take(canonical);
          row(table, taker.rows(), canonical);
          progress.at(table.name(), taker.rows(), total);
        });
    TableSum sum = taker.sum(table.name());
    line(
        new JsonObject()
            .put("end_of_table", sum.table())
            .put("rows", sum.rows())
            .put("sha256", sum.sha256()));
    return sum;
  }

  /** Returns names and kinds, in the order of the values. */
  static JsonObject columns(StoredTable table) {
    JsonObject columns = new JsonObject();
    for (Column column : table.columns()) {
      columns.put(column.name(), column.kind().name().toLowerCase(Locale.ROOT));
    }
    return columns;
  }

  private void row(StoredTable table, long number, byte[] canonical) throws IOException {
    String head = "{\"row\":" + number + ",\"crc32\":\"" + TableSum.crc32(canonical);
    head += "\",\"values\":";
    if (head.length() + canonical.length + 1 > MAX_LINE_BYTES) {
      throw new InvalidExportException(
          "row " + number + " of table " + table.name() + " is longer than 64 MiB");
    }
    out.write(head.getBytes(StandardCharsets.US_ASCII));
    out.write(canonical);
    out.write('}');
    out.write('\n');
  }

  private void line(JsonObject json) throws IOException {
    out.write(json.encode().getBytes(StandardCharsets.UTF_8));
    out.write('\n');
  }
}
