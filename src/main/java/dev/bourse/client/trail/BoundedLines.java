package dev.bourse.client.trail;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Reads the lines, each of bounded length, of a text of any length. */
final class BoundedLines {
  /** Far more than any row of the service, and small enough to read arbitrary files. */
  static final int MAX_BYTES = 4 << 20;

  /** A line that is not text, or too long for a trail. */
  static final class UnreadableLineException extends IOException {
    private static final long serialVersionUID = 1;

    UnreadableLineException(long line, String what) {
      super(line + ": " + what);
    }
  }

  private final InputStream bytes;
  private final ByteArrayOutputStream line = new ByteArrayOutputStream(1_024);
  private long number;

  BoundedLines(InputStream bytes) {
    this.bytes = bytes;
  }

  /** The number of the last line read, from 1; 0 before the first. */
  long number() {
    return number;
  }

  /** The next line without its line break; null after the last. */
  @Nullable String next() throws IOException {
    line.reset();
    int each = bytes.read();
    if (each < 0) {
      return null;
    }
    number++;
    while (each >= 0 && each != '\n') {
      if (line.size() == MAX_BYTES) {
        throw new UnreadableLineException(number, "a line of over " + (MAX_BYTES >> 20) + " MiB");
      }
      line.write(each);
      each = bytes.read();
    }
    try {
      return StandardCharsets.UTF_8
          .newDecoder()
          .decode(ByteBuffer.wrap(line.toByteArray()))
          .toString()
          .stripTrailing();
    } catch (CharacterCodingException e) {
      throw new UnreadableLineException(number, "it is not UTF-8");
    }
  }
}
