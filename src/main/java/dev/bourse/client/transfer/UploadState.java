package dev.bourse.client.transfer;

import io.vertx.core.json.JsonObject;
import java.time.Instant;

/**
 * The stored state of a resumable upload.
 *
 * @param announced the announcement of the file
 * @param id the item
 * @param sessionUrl the address for the bytes; a secret
 * @param expiresAt when the session ends
 * @param size of the file at the start, in bytes
 * @param modifiedMillis the file's modification time at the start
 * @param hashedBytes the least number of bytes sent
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

  /** Whether the file has the size and time it had at the start. */
  boolean isOf(LocalFile file) {
    return file.size() == size && file.modifiedMillis() == modifiedMillis;
  }

  /** Omits the session's address, which is a secret. */
  @Override
  public String toString() {
    return "UploadState[id=" + id + ", hashedBytes=" + hashedBytes + ']';
  }
}
