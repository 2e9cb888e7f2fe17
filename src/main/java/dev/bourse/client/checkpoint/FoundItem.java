package dev.bourse.client.checkpoint;

import dev.bourse.client.transfer.FileUpload;
import dev.bourse.remote.RefusedException;
import dev.bourse.remote.Service;
import io.vertx.core.json.JsonObject;

/**
 * An item with the path under which the caller can read it.
 *
 * @param path on the organization's list, else on the public feed
 * @param facts the service's answer about the item
 */
record FoundItem(String path, JsonObject facts) {
  static FoundItem of(Service service, String id) throws RefusedException {
    if (!service.isAnonymous()) {
      String path = FileUpload.item(id);
      try {
        return new FoundItem(path, service.call("GET", path, null));
      } catch (RefusedException e) {
        if (!e.is("gone")) {
          throw e;
        }
      }
    }
    String published = FileUpload.FAMILY + "/public/" + Service.encoded(id);
    return new FoundItem(published, service.call("GET", published, null));
  }

  boolean isSet() {
    return facts.getValue("files") != null;
  }
}
