package dev.bourse.store.transfer;

import dev.bourse.core.Text;
import dev.bourse.store.transfer.StoredTable.Column;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;
import org.jspecify.annotations.Nullable;

/**
 * Reads a file of {@link ExportWriter}, line by line, and checks that it is complete and unchanged.
 * Any fault ends the reading with an {@link InvalidExportException}.
 */
public final class ExportReader implements AutoCloseable {
  private static final int BUFFER_BYTES = 1 << 16;
  private static final int GZIP_FIRST = 0x1f;
  private static final int GZIP_SECOND = 0x8b;

  private final String file;
  private final InputStream in;
  private final ByteArrayOutputStream line = new ByteArrayOutputStream();
  private final Set<String> tablesRead = new HashSet<>();
  private final JsonObject header;
  private final byte[] buffer = new byte[BUFFER_BYTES];
  private int position;
  private int limit;
  private long lines;
  private long rowsRead;

  // The table being read; empty between tables.
  private String table = "";
  private JsonObject columns = new JsonObject();
  private long total;
  private TableSum.Taker taker = new TableSum.Taker();
  private @Nullable TableSum sum;

  private ExportReader(String file, InputStream in) throws IOException {
    this.file = file;
    this.in = in;
    JsonObject first = read("no header");
    if (!(first.getValue("bourse_export") instanceof Integer format)) {
      throw fault("is not an export of bourse: line 1 is not a header");
    }
    if (format != ExportWriter.FORMAT) {
      throw fault("has format " + format + "; this program reads format " + ExportWriter.FORMAT);
    }
    header = first;
    version();
    tables();
  }

  /**
   * Opens a file, compressed or not, and reads its header.
   *
   * @throws IOException if it cannot be read or its header is not valid
   */
  public static ExportReader open(Path path) throws IOException {
    BufferedInputStream raw = new BufferedInputStream(Files.newInputStream(path), BUFFER_BYTES);
    try {
      raw.mark(2);
      boolean isGzip = raw.read() == GZIP_FIRST && raw.read() == GZIP_SECOND;
      raw.reset();
      if (!isGzip && path.toString().endsWith(".gz")) {
        throw new InvalidExportException(path + " is not compressed by gzip, as its name says");
      }
      InputStream in = isGzip ? new GZIPInputStream(raw, BUFFER_BYTES) : raw;
      return new ExportReader(path.toString(), in);
    } catch (EOFException e) {
      raw.close();
      throw new InvalidExportException(path + " is cut short in line 1");
    } catch (IOException | RuntimeException e) {
      raw.close();
      throw e;
    }
  }

  /** Returns the schema version of the rows. */
  public int version() throws InvalidExportException {
    if (header.getValue("schema") instanceof Integer version) {
      return version;
    }
    throw fault("has a header without the schema's version");
  }

  /** Returns the tables that the header lists. */
  public List<String> tables() throws InvalidExportException {
    List<String> names = new ArrayList<>();
    if (header.getValue("tables") instanceof JsonArray announced) {
      announced.forEach(name -> names.add(String.valueOf(name)));
      return names;
    }
    throw fault("has a header without tables");
  }

  /**
   * Advances to the next table, after the last row of the previous one. Returns its name, or null
   * at the end of the file.
   */
  @Nullable String nextTable() throws IOException {
    JsonObject next = read("the end is missing");
    if (Boolean.TRUE.equals(next.getValue("end_of_export"))) {
      end(next);
      return null;
    }
    if (next.getValue("table") instanceof String name
        && next.getValue("rows") instanceof Number rows
        && next.getValue("columns") instanceof JsonObject named) {
      if (!tables().contains(name) || !tablesRead.add(name)) {
        throw fault("has an unexpected table " + Text.shown(name) + " in line " + lines);
      }
      table = name;
      columns = named;
      total = rows.longValue();
      taker = new TableSum.Taker();
      sum = null;
      return name;
    }
    throw fault("is damaged: line " + lines + " is neither a table nor the end");
  }

  private void end(JsonObject totals) throws IOException {
    Set<String> missing = new HashSet<>(tables());
    missing.removeAll(tablesRead);
    if (!missing.isEmpty()) {
      throw fault("lacks tables " + missing);
    }
    if (!(totals.getValue("rows") instanceof Number rows) || rows.longValue() != rowsRead) {
      throw fault("has " + rowsRead + " rows, its end says " + totals.getValue("rows"));
    }
    if (position < limit || fill()) {
      throw fault("goes on after its end, line " + lines);
    }
  }

  /** Returns whether the table has exactly these columns. */
  boolean hasColumnsOf(StoredTable known) {
    return columns.encode().equals(ExportWriter.columns(known).encode());
  }

  /** Returns the number of rows that the table's line declares. */
  long total() {
    return total;
  }

  /** Returns the next row of a table, by column; null after the last one, if its sum is right. */
  @Nullable List<@Nullable Object> nextRow(StoredTable known) throws IOException {
    JsonObject next = read("the end is missing");
    long number = taker.rows() + 1;
    if (next.getValue("end_of_table") instanceof String) {
      sum = taker.sum(table);
      check(next, sum);
      rowsRead += sum.rows();
      return null;
    }
    if (!(next.getValue("row") instanceof Number actual)
        || !(next.getValue("values") instanceof JsonArray values)) {
      throw fault(damaged(number) + ": line " + lines + " is not a row");
    }
    if (actual.longValue() != number) {
      throw fault(damaged(number) + ": row " + actual + " is in its place");
    }
    byte[] canonical = TableSum.canonical(values);
    if (!TableSum.crc32(canonical).equals(next.getValue("crc32"))) {
      throw fault(damaged(number) + ": it was changed after the export");
    }
    taker.take(canonical);
    return values(known, number, values);
  }

  private void check(JsonObject declared, TableSum found) throws InvalidExportException {
    if (!(declared.getValue("rows") instanceof Number rows) || rows.longValue() != found.rows()) {
      throw fault(
          "is damaged: table %s has %s rows, %s were exported"
              .formatted(table, found.rows(), declared.getValue("rows")));
    }
    if (!found.sha256().equals(declared.getValue("sha256"))) {
      throw fault("is damaged: the rows of table " + table + " have another checksum");
    }
  }

  private List<@Nullable Object> values(StoredTable known, long number, JsonArray values)
      throws InvalidExportException {
    List<Column> wanted = known.columns();
    if (values.size() != wanted.size()) {
      throw fault(damaged(number) + ": it has " + values.size() + " values");
    }
    List<@Nullable Object> typed = new ArrayList<>(wanted.size());
    for (int i = 0; i < wanted.size(); i++) {
      Object value = values.getValue(i);
      StoredTable.Kind kind = wanted.get(i).kind();
      if (value instanceof Integer small) {
        value = small.longValue();
      } else if (kind == StoredTable.Kind.BYTES && value instanceof String) {
        value = bytes(number, values, i);
      }
      if (value != null && !kind.accepts(value)) {
        throw fault(damaged(number) + ": " + wanted.get(i).name() + " is of another kind");
      }
      typed.add(value);
    }
    return typed;
  }

  private byte[] bytes(long number, JsonArray values, int index) throws InvalidExportException {
    try {
      return values.getBinary(index);
    } catch (IllegalArgumentException e) {
      throw fault(damaged(number) + ": its bytes are not in base64");
    }
  }

  /** Returns the sum of the table whose last row was read. */
  TableSum sum() {
    return Objects.requireNonNull(sum, "the table has unread rows");
  }

  private String damaged(long number) {
    return "is damaged in row " + number + " of table " + table;
  }

  InvalidExportException fault(String what) {
    return new InvalidExportException(file + " " + what);
  }

  private String where() {
    return table.isEmpty()
        ? "after line " + lines
        : "after row " + taker.rows() + " of table " + table;
  }

  private JsonObject read(String missing) throws IOException {
    line.reset();
    try {
      if (!readLine()) {
        throw fault("is cut short " + where() + "; " + missing);
      }
    } catch (EOFException e) {
      throw fault("is cut short " + where() + "; " + missing);
    } catch (ZipException e) {
      throw fault("is damaged " + where() + ": " + e.getMessage());
    }
    lines++;
    try {
      return new JsonObject(line.toString(StandardCharsets.UTF_8));
    } catch (DecodeException | ClassCastException e) {
      throw fault(
          lines == 1
              ? "is not an export of bourse: line 1 is not a header"
              : "is damaged " + where() + ": line " + lines + " is not JSON");
    }
  }

  /** Reads up to a line feed; returns false if the file ends before one. */
  private boolean readLine() throws IOException {
    while (true) {
      for (int i = position; i < limit; i++) {
        if (buffer[i] == '\n') {
          line.write(buffer, position, i - position);
          position = i + 1;
          return true;
        }
      }
      line.write(buffer, position, limit - position);
      position = limit;
      if (line.size() > ExportWriter.MAX_LINE_BYTES) {
        throw fault("is not an export of bourse: line " + (lines + 1) + " exceeds 64 MiB");
      }
      if (!fill()) {
        return false;
      }
    }
  }

  private boolean fill() throws IOException {
    position = 0;
    limit = Math.max(0, in.read(buffer));
    return limit > 0;
  }

  @Override
  public void close() throws IOException {
    in.close();
  }
}
