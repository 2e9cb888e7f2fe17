package dev.bourse.trailstream;

import dev.bourse.audit.SealService;
import dev.bourse.core.Times;
import dev.bourse.trailstream.TrailStream.Progress;
import io.vertx.core.json.JsonObject;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A stream as members see it.
 *
 * @param writes the head of the chain of writes; empty before the first seal
 * @param reads the same of reads
 * @param secret the signing secret, shown once when it is created; null otherwise
 */
record TrailStreamView(
    TrailStream stream,
    Optional<SealService.Head> writes,
    Optional<SealService.Head> reads,
    @Nullable String secret) {
  JsonObject json() {
    Progress progress = stream.progress();
    JsonObject json =
        new JsonObject()
            .put("destination", stream.destination().text())
            .put("access_key_id", stream.accessKeyId())
            .put("include_reads", stream.includeReads())
            .put("enabled", stream.isEnabled())
            .put("disabled_at", Times.rfc3339OrNull(stream.disabledAtMillis()))
            .put("disabled_reason", stream.disabledReason())
            .put("writes", chain(progress.batch(false), writes))
            .put("reads", stream.includeReads() ? chain(progress.batch(true), reads) : null);
    progress
        .attempts()
        .putInto(json, stream.isEnabled() && progress.attempts().tries() > 0)
        .put("old_secret_until", Times.rfc3339OrNull(stream.oldSecretUntilMillis()))
        .put("created_at", Times.rfc3339(stream.createdAtMillis()))
        .put("created_by", stream.createdBy());
    return secret == null ? json : json.put("secret", secret);
  }

  private static JsonObject chain(long batch, Optional<SealService.Head> head) {
    long last = head.map(SealService.Head::batch).orElse(0L);
    return new JsonObject()
        .put("taken_batch", batch)
        .put("sealed_batch", last)
        .put("behind", Math.max(0, last - batch))
        .put("head", head.map(SealService.Head::seal).orElse(null));
  }
}
