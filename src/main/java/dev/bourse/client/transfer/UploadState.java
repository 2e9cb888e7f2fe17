package dev.bourse.client.transfer;

import io.vertx.core.json.JsonObject;
import java.time.Instant;

/**
 * What is known of a resumable upload that has begun.
 *
 * @param announced what the service was told of the file
 * @param id the item
 * @param sessionUrl where its bytes go; a secret
 * @param expiresAt when the session ends
 * @param size of the file when it began, in bytes
 * @param modifiedMillis when the file was last written then
 * @param hashedBytes how many bytes were sent at least
 * @param sha256 of those bytes
 */
record UploadState(
    JsonObject announced,
    String id,
    String sessionUrl,
    Instant expiresAt,
    long size,
    long modifiedMillis,
    long hashedBytes,
    String sha256) {

  static UploadState of(JsonObject json) {
    return new UploadState(
        json.getJsonObject("announced", new JsonObject()),
        json.getString("id", ""),
        json.getString("session_url", ""),
        json.getInstant("expires_at", Instant.EPOCH),
        json.getLong("size", 0L),
        json.getLong("modified_ms", 0L),
        json.getLong("hashed_bytes", 0L),
        json.getString("sha256", ""));
  }

  JsonObject toJson() {
    return new JsonObject()
        .put("announced", announced)
        .put("id", id)
        .put("session_url", sessionUrl)
        .put("expires_at", expiresAt)
        .put("size", size)
        .put("modified_ms", modifiedMillis)
        .put("hashed_bytes", hashedBytes)
        .put("sha256", sha256);
  }

  UploadState at(PrefixDigest sent) {
    return new UploadState(
        announced, id, sessionUrl, expiresAt, size, modifiedMillis, sent.length(), sent.sha256());
  }

  /** Whether the file is, as far as its size and time tell, the one that was begun with. */
  boolean isOf(LocalFile file) {
    return file.size() == size && file.modifiedMillis() == modifiedMillis;
  }

  /** Without the session's address, which is a secret. */
  @Override
  public String toString() {
    return "UploadState[id=" + id + ", hashedBytes=" + hashedBytes + ']';
  }
}
