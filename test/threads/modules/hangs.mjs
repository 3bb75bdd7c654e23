// Never finishes loading.

await new Promise(() => {})
export default () => {}
