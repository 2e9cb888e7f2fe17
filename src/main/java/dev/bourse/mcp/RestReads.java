package dev.bourse.mcp;

import dev.bourse.access.Principal;
import dev.bourse.access.Scope;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.util.List;
import java.util.Optional;

/** The reads of the HTTP interface. */
public interface RestReads {
  /** Their paths, parameters in braces, each with what it tells. */
  List<String> list();

  /** What a member needs for a read; empty when there is no such read. */
  Optional<Scope> findScope(String target);

  /** The answer, encoded JSON; fails, or throws, as the HTTP interface refuses. */
  Future<Buffer> call(Principal caller, String target);
}
