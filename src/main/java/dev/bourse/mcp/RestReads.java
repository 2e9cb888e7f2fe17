package dev.bourse.mcp;

import dev.bourse.access.Principal;
import dev.bourse.access.Scope;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.util.List;
import java.util.Optional;

/** The port to the reads of the HTTP API. */
public interface RestReads {
  /** The paths of the reads, parameters in braces, each with a description. */
  List<String> list();

  /** The scope a member needs for a read; empty when there is no such read. */
  Optional<Scope> findScope(String target);

  /** The answer, encoded JSON; fails or throws like the HTTP API. */
  Future<Buffer> call(Principal caller, String target);
}
