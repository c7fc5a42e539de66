// How far an order is, from its events, as the app's view model counts them. Pure: no page, no connection, no clock.
import { count, text } from '/dom.js';

/** The steps of an order that goes well, in order. */
export const steps = [
  { status: 'uploading', name: 'Uploading' },
  { status: 'uploaded', name: 'Uploaded' },
  { status: 'processing', name: 'Processing' },
  { status: 'previews_ready', name: 'Ready' },
];

/** More photos than this are not shown one by one. */
const imagesMax = 100;

export class Order {
  status = 'waiting';
  progress = 0;
  fileCount = null;
  /** Photos that came back: {id, isFailed}. */
  images = [];
  urls = [];
  error = '';
  /** The step that was reached last, which a failure does not change; -1 before the first. */
  reached = -1;

  /** Takes an event; false when it is none of an order's. */
  take(event, payload) {
    switch (event) {
      case 'upload_started':
        Object.assign(this, new Order());
        this.fileCount = count(payload.file_count, 10_000);
        return this.#reach(0, 0);
      case 'upload_completed':
        this.fileCount = count(payload.file_count, 10_000) ?? this.fileCount;
        return this.#reach(1, 0.25);
      case 'processing_started':
        return this.#reach(2, 0.5);
      case 'webhook_image_processed':
        return this.#image(payload);
      case 'download_ready':
        this.urls = (Array.isArray(payload.storage_urls) ? payload.storage_urls : [])
          .filter((url) => typeof url === 'string').slice(0, imagesMax);
        return this.#reach(3, 1);
      case 'processing_failed':
        this.status = 'failed';
        this.error = text(payload.error, 300) || 'Processing failed';
        return true;
    }
    return false;
  }

  #reach(step, progress) {
    this.reached = step;
    this.status = steps[step].status;
    this.progress = progress;
    return true;
  }

  #image({ image_id: imageId, error }) {
    const id = text(imageId, 100);
    if (this.images.length < imagesMax && !this.images.some((image) => image.id === id)) {
      this.images.push({ id, isFailed: error === true });
    }
    if (this.fileCount > 0) {
      this.progress = Math.max(this.progress, 0.5 + 0.5 * Math.min(1, this.images.length / (this.fileCount + 1)));
    }
    return true;
  }

  /** What a person reads. */
  get sentence() {
    const photos = (number) => (number === 1 ? '1 photo' : `${number} photos`);
    const done = this.images.filter(({ isFailed }) => !isFailed).length;
    switch (this.status) {
      case 'uploading': return this.fileCount === null ? 'Uploading' : `Uploading ${photos(this.fileCount)}`;
      case 'uploaded': return this.fileCount === null ? 'Uploaded' : `${photos(this.fileCount)} uploaded`;
      case 'processing': return done === 0 ? 'Processing' : `Processing: ${photos(done)} done`;
      case 'previews_ready': return `${this.urls.length === 1 ? '1 preview' : `${this.urls.length} previews`} ready`;
      case 'failed': return `Failed: ${this.error}`;
      default: return 'Waiting for an order';
    }
  }
}
